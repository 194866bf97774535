"""AccLock's own files: NumPy arrays in a zip, and nothing in them that could run."""

import json
from collections.abc import Mapping
from datetime import datetime
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from acclock.errors import SignalError, UnreadableError, UnwritableError
from acclock.recordings.raw import About
from acclock.recordings.trees import Archive, Tree
from acclock.system.files import replacing
from acclock.values import FloatArray, Recording

FORMAT = "AccLock recording"
_HEADER = "acclock"
_EXTRA = "extra_"
_VERSION = 1
_ABOUT = ("person", "session", "device", "ear", "start", "labels")


def write(
    recording: Recording, path: Path | str, extras: Mapping[str, FloatArray] | None = None
) -> None:
    """Store a recording, whole or not at all, and beside it arrays such as a simulation's truth.

    ``read`` gives the same recording back, ``read_extras`` the arrays.
    """
    header = {
        "version": _VERSION,
        "rate_hz": recording.rate_hz,
        "sampled_hz": recording.sampled_hz,
        "start": recording.start.isoformat() if recording.start else None,
        **{name: getattr(recording, name) for name in ("person", "session", "device", "ear")},
        "labels": dict(recording.labels),
    }
    arrays: dict[str, NDArray[np.generic]] = {
        _HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8),
        "samples": recording.samples,
        "received": recording.received,
    }
    for name, array in (extras or {}).items():
        if not name.isidentifier():
            raise UnwritableError(f"an extra array needs a plain name, not '{name}'")
        arrays[_EXTRA + name] = np.asarray(array, dtype=np.float64)
    with replacing(Path(path)) as file:
        np.savez(file, allow_pickle=False, **arrays)


def is_own(tree: Tree) -> bool:
    """Whether a zip is a recording that AccLock wrote."""
    return {f"{_HEADER}.npy", "samples.npy", "received.npy"} <= set(tree.names)


def read_own(tree: Tree) -> Recording:
    """Read a recording that ``write`` stored."""
    about, rate_hz, sampled_hz = read_header(tree)
    samples, received = _array(tree, "samples"), _array(tree, "received")
    if samples.dtype != np.float64 or received.dtype != np.bool_:
        raise UnreadableError(
            f"samples of {samples.dtype} and a mask of {received.dtype} are not ours"
        )
    try:
        return Recording(
            samples=samples.astype(np.float64),
            rate_hz=rate_hz,
            sampled_hz=sampled_hz,
            received=received.astype(np.bool_),
            **{name: getattr(about, name) for name in _ABOUT},
        )
    except SignalError as error:
        raise UnreadableError(f"it is not what AccLock wrote: {error}") from error


def read_header(tree: Tree) -> tuple[About, float, float | None]:
    """Read who and what a stored recording is of, and its rates, without its samples."""
    try:
        header = json.loads(_array(tree, _HEADER).tobytes())
        if header["version"] != _VERSION:
            raise UnreadableError(
                f"it has version {header['version']} of the format; this reads {_VERSION}"
            )
        start = header["start"]
        texts = [header[name] for name in ("person", "session", "device")]
        if not all(text is None or isinstance(text, str) for text in texts):
            raise UnreadableError("its header names a person, session or device that is no text")
        if header["ear"] not in (None, "left", "right"):
            raise UnreadableError(f"its header speaks of an ear '{header['ear']}'")
        about = About(
            person=texts[0],
            session=texts[1],
            device=texts[2],
            ear=header["ear"],
            start=datetime.fromisoformat(start) if start else None,
            day=datetime.fromisoformat(start).date() if start else None,
            labels={str(key): str(value) for key, value in header["labels"].items()},
        )
        sampled_hz = header.get("sampled_hz")  # files of earlier versions do not say
        return about, float(header["rate_hz"]), None if sampled_hz is None else float(sampled_hz)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"its header is not what AccLock writes: {error}") from error


def read_extras(path: Path | str) -> dict[str, FloatArray]:
    """Give the arrays that were stored beside a recording, by name."""
    tree = Archive(Path(path))
    names = [name.removesuffix(".npy") for name in tree.names]
    return {
        name.removeprefix(_EXTRA): _array(tree, name).astype(np.float64)
        for name in names
        if name.startswith(_EXTRA)
    }


def _array(tree: Tree, name: str) -> NDArray[np.generic]:
    """Read one array; its size is checked against the bytes that are there, before it is made."""
    file = BytesIO(tree.read(f"{name}.npy"))
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, columns_first, dtype = header(file)
    except (ValueError, EOFError) as error:
        raise UnreadableError(f"'{name}' is not a NumPy array: {error}") from error
    body = file.read()
    if dtype.hasobject or len(body) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise UnreadableError(f"'{name}' is not a whole NumPy array of numbers")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if columns_first else "C")
