"""What a reader of one format delivers, brought to an even clock and m/s²."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

import numpy as np

from acclock.acquisition.even import Gap, check_samples, even_out
from acclock.acquisition.units import Source, Unit, UnitScale, infer_scale
from acclock.errors import SignalError
from acclock.values import Ear, FloatArray, Recording

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Who and what a recording is of, as far as its place and its neighbors tell."""

    person: str | None = None
    session: str | None = None
    device: str | None = None
    ear: Ear | None = None
    start: datetime | None = None
    day: date | None = None
    """The day where it was recorded, which may be known when the moment is not."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raw:
    """Samples as they stand in a file, with their time stamps."""

    format: str
    stamps_s: FloatArray
    samples: FloatArray
    """One row per axis, in the unit of the file."""
    unit: Unit | None = None
    """The unit, where the format or the header says so."""
    unit_in_header: bool = False
    native_rate_hz: float | None = None
    """The rate that the stamps were counted from, where the file has no clock of its own."""
    about: About = About()
    notes: tuple[str, ...] = ()


def moment(seconds: float) -> datetime | None:
    """Give the point in time so many seconds after the epoch, or nothing if not a likely one."""
    if not _EARLIEST <= seconds <= _LATEST:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC)


_STRONGEST = 10_000.0
"""In m/s²; a thousand times gravity is not something that a body does."""
_REPEATED_SHARE = 0.01
_TWO_WINDOWS_S = 8.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A recording, and what was found out about its file on the way."""

    recording: Recording
    format: str
    unit: Unit
    """In which unit the file is; the recording is in m/s²."""
    unit_source: Source
    """How the unit was known: the caller's word, the header, the format, or the values."""
    gravity: bool
    """Whether gravity is part of the samples."""
    native_rate_hz: float
    """The rate while samples came, as measured."""
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...]
    """Sentences about what was decided, to be said aloud."""


def settle(raw: Raw, about: About, rate_hz: float | None, unit: Unit | None) -> Reading:
    """Settle unit and clock of what a format delivered; ``about`` wins over what the file says."""
    raw = _drop_repeats(raw)
    check_samples(raw.samples)
    scale = infer_scale(
        raw.samples,
        override=unit,
        stated=raw.unit,
        source="header" if raw.unit_in_header else "format",
    )
    strongest = float(np.abs(raw.samples).max()) * scale.factor
    if strongest > _STRONGEST:
        raise SignalError(
            f"values of up to {strongest:.2g} m/s² are not acceleration that a body makes"
        )
    even = even_out(
        raw.stamps_s,
        raw.samples * scale.factor,
        rate_hz=rate_hz,
        native_rate_hz=raw.native_rate_hz,
    )
    recording = Recording(
        samples=even.samples,
        rate_hz=even.rate_hz,
        sampled_hz=None if even.native_rate_hz == even.rate_hz else even.native_rate_hz,
        received=even.received,
        start=_place(raw.about.start, about.start),
        person=about.person or raw.about.person,
        session=about.session or raw.about.session,
        device=about.device or raw.about.device,
        ear=about.ear or raw.about.ear,
        labels={**raw.about.labels, **about.labels},
    )
    return report(recording, raw.format, scale, even.native_rate_hz, even.gaps, raw.notes)


def _drop_repeats(raw: Raw) -> Raw:
    """Leave out rows that repeat the one before in every number, where they are few."""
    same = (np.diff(raw.stamps_s) == 0) & (np.diff(raw.samples) == 0).all(axis=0)
    if not same.any() or same.mean() > _REPEATED_SHARE:
        return raw
    kept = np.concatenate(([True], ~same))
    return replace(
        raw,
        stamps_s=raw.stamps_s[kept],
        samples=raw.samples[:, kept],
        notes=(*raw.notes, f"{int(same.sum())} rows that repeat the one before are left out"),
    )


def _place(sampled: datetime | None, written: datetime | None) -> datetime | None:
    """Give the moment of the first sample, in the time zone that was written down beside it."""
    if sampled is None or written is None:
        return sampled or written
    return sampled.astimezone(written.tzinfo)


def report(
    recording: Recording,
    format: str,  # noqa: A002  # a recording's format is what the caller calls it
    scale: UnitScale,
    native_rate_hz: float,
    gaps: tuple[Gap, ...],
    notes: tuple[str, ...] = (),
) -> Reading:
    """Put together what was found out, with the sentences that say so."""
    known = {"override": "as told", "header": "by its header", "format": "by its format"}
    spoken = [
        f"unit {scale.unit}, {known.get(scale.source, 'by the length of gravity')}",
        "gravity is included" if scale.gravity else "gravity is not included",
    ]
    if scale.doubt is not None:
        spoken.append(
            f"though gravity would be as long as the values are if they were in {scale.doubt}"
        )
    if recording.rate_hz > 1.02 * native_rate_hz:
        spoken.append(f"nothing above {native_rate_hz / 2:.4g} Hz is in it, whatever its rate now")
    if recording.duration_s < _TWO_WINDOWS_S:
        spoken.append(f"it lasts {recording.duration_s:.1f} s, less than two windows of 4 s")
    return Reading(
        recording=recording,
        format=format,
        unit=scale.unit,
        unit_source=scale.source,
        gravity=scale.gravity,
        native_rate_hz=native_rate_hz,
        gaps=gaps,
        notes=(*spoken, *notes),
    )
