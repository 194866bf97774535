"""One recording, read from wherever it lies."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from acclock.acquisition.clock import check_rate
from acclock.acquisition.even import resample
from acclock.acquisition.gaps import gaps_of
from acclock.acquisition.units import Unit, tell_scale
from acclock.errors import AccLockError
from acclock.values import Recording
from acclock.world.files.archives import BEGINNINGS, Archive
from acclock.world.files.columns import Columns
from acclock.world.files.formats import own
from acclock.world.files.layouts import layout_of
from acclock.world.files.places import locate, only_recording
from acclock.world.files.raw import About, Raw
from acclock.world.files.recognition import parse
from acclock.world.files.settling import Reading, report, settle
from acclock.world.files.trees import Item


def read(
    path: Path | str,
    *,
    rate_hz: float | None = None,
    unit: Unit | None = None,
    columns: Columns | None = None,
) -> Recording:
    """Read one recording: a file, ``archive.zip::inner/path``, or a folder or zip that holds one.

    ``rate_hz`` resamples; ``unit`` and ``columns`` win over what would be detected.
    """
    return inspect(path, rate_hz=rate_hz, unit=unit, columns=columns).recording


def inspect(
    path: Path | str,
    *,
    rate_hz: float | None = None,
    unit: Unit | None = None,
    columns: Columns | None = None,
) -> Reading:
    """Read one recording and say how: format, unit, gravity, rate, gaps."""
    with _naming(str(path)):
        return _inspect(locate(path), rate_hz, unit, columns)


def inspect_entry(item: Item, about: About, rate_hz: float | None = None) -> Reading:
    """Read one file of a data set, of which it is known who and what it is about."""
    with _naming(item.name):
        return _inspect(item, rate_hz, about=about)


def _inspect(
    item: Item,
    rate_hz: float | None = None,
    unit: Unit | None = None,
    columns: Columns | None = None,
    about: About | None = None,
) -> Reading:
    if rate_hz is not None:
        check_rate(rate_hz)
    # damaged files hold numbers of any size: they are judged afterwards, not while they are read
    with np.errstate(all="ignore"):
        data = item.read()
        if data.startswith(BEGINNINGS):
            return _inspect_archive(Archive(Path(item.path), data), rate_hz, unit, columns)
        raw = _count_time(parse(item, data, columns or Columns()), columns)
        layout = layout_of(item)
        if layout is not None:
            raw = replace(raw, format=layout.format)
            about = about or layout.describe(item)
        return settle(raw, about or About(), rate_hz, unit)


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Begin every refusal with the name of the file that it is about."""
    try:
        yield
    except AccLockError as error:
        if not any(str(error).startswith(name) for name in (place, f"'{place}'")):
            error.args = (f"{place}: {error}",)
        raise


def _inspect_archive(
    archive: Archive, rate_hz: float | None, unit: Unit | None, columns: Columns | None
) -> Reading:
    if not own.is_own(archive):
        return _inspect(only_recording(archive), rate_hz, unit, columns)
    recording = own.read_own(archive)
    known = recording.samples[:, recording.received]
    scale = tell_scale(known, override=unit, stated="m/s²", source="format")
    if scale.factor != 1.0:
        recording = replace(recording, samples=recording.samples * scale.factor)
    gaps = gaps_of(recording)
    native_rate_hz = recording.native_rate_hz
    if rate_hz is not None:
        recording = resample(recording, rate_hz)
    return report(recording, own.FORMAT, scale, native_rate_hz, gaps)


def _count_time(raw: Raw, columns: Columns | None) -> Raw:
    """Put the caller's sampling rate in the place of a clock that it overrules."""
    if columns is None or columns.sampled_hz in (None, raw.native_rate_hz):
        return raw
    stamps_s = np.arange(raw.samples.shape[1]) / columns.sampled_hz
    return replace(raw, stamps_s=stamps_s, native_rate_hz=columns.sampled_hz)
