"""A model file and the manifest beside it, without which it is not trusted."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from acclock.errors import ModelError
from acclock.system.files import replacing

FORMAT = 1
_SHIPPED = Path(__file__).parent

SHIPPED_HZ: Mapping[str, float] = MappingProxyType(
    {"default": 100.0, "default-50": 50.0, "default-25": 25.0}
)
"""The shipped models by name, and the rate that each was made for."""


def find_model(name: str) -> Path:
    """Give the path of a model: that of a file, or that of a model shipped under this name."""
    for candidate in (Path(name), _SHIPPED / f"{name}.onnx"):
        if candidate.is_file():
            return candidate
    shipped = ", ".join(SHIPPED_HZ)
    raise ModelError(f"there is no model {name!r}: it is neither a file nor shipped ({shipped})")


def fingerprint_of(path: Path) -> str:
    """Give which model a file holds, as its manifest says; ``read_model`` finds out if it lies."""
    return str(_read_manifest(manifest_path(path))["sha256"])


def name_model(fingerprint: str, names: Iterable[str] = SHIPPED_HZ) -> str | None:
    """Give the one of these names whose model made a template, without loading any."""
    return next((name for name in names if fingerprint_of(find_model(name)) == fingerprint), None)


def read_model(path: Path) -> bytes:
    """Give the bytes of a model that are exactly those that its manifest was written for."""
    manifest = _read_manifest(manifest_path(path))
    model = _read_bytes(path)
    if len(model) != manifest["bytes"]:
        raise ModelError(
            f"{path} holds {len(model)} bytes; its manifest asks for {manifest['bytes']}"
        )
    if hashlib.sha256(model).hexdigest() != manifest["sha256"]:
        raise ModelError(f"{path} has been altered: its SHA-256 is not that of its manifest")
    return model


def write_model(path: Path, model: bytes) -> None:
    """Store a model with its manifest beside it.

    Whoever reads between the two finds bytes that do not fit the manifest, and refuses them.
    """
    manifest = {
        "format": FORMAT,
        "bytes": len(model),
        "sha256": hashlib.sha256(model).hexdigest(),
    }
    with replacing(path) as file:
        file.write(model)
    with replacing(manifest_path(path)) as file:
        file.write(json.dumps(manifest, indent=2).encode() + b"\n")


def manifest_path(path: Path) -> Path:
    """Give where the manifest of a model lies.

    >>> str(manifest_path(Path("default.onnx")))
    'default.onnx.json'
    """
    return path.with_name(path.name + ".json")


def _read_manifest(path: Path) -> dict[str, object]:
    text = _read_bytes(path)
    try:
        manifest = json.loads(text)
        known = {name: manifest[name] for name in ("format", "bytes", "sha256")}
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is not the manifest of a model") from error
    if known["format"] != FORMAT:
        raise ModelError(f"{path} has format {known['format']!r}; this reads format {FORMAT}")
    return known


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
