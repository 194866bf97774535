"""Shipped models, copied out for phones and others. No torch is needed for that."""

import hashlib
from pathlib import Path

from acclock import models
from acclock.embedding.card import Card
from acclock.embedding.embedder import Embedder
from acclock.models.files import read_model, write_model

_SHIPPED = Path(models.__file__).parent


def copy_shipped(name: str, path: Path, *, raw: bool) -> dict[str, object] | None:
    """Write a shipped model with its manifest and say what was written; ``None`` for others.

    As everywhere, a file of that name goes before what is shipped.
    """
    windows = _SHIPPED / f"{name}.onnx"
    if Path(name).is_file() or not windows.is_file():
        return None
    card = Embedder(read_model(windows)).card
    copied = read_model(find_raw_model(name)) if raw else read_model(windows)
    return write_export(path, copied, card, raw=raw)


def find_raw_model(name: str) -> Path:
    """Give where the file of a shipped model lies that reads raw acceleration."""
    return _SHIPPED / "raw" / f"{name}.onnx"


def write_export(path: Path, written: bytes, card: Card, *, raw: bool = False) -> dict[str, object]:
    """Store an exported model with its manifest, and say what was written."""
    write_model(path, written)
    reads = "raw acceleration" if raw else "prepared windows"
    return {
        "model": str(path),
        "reads": f"{reads} at {card.rate_hz:g} Hz",
        "preparation": card.preparation,
        "bytes": len(written),
        "sha256": hashlib.sha256(written).hexdigest(),
    }
