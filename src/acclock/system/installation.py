"""What this machine has of what AccLock can use."""

import os
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("acclock", "numpy", "onnxruntime", "sqlalchemy", "cryptography")

EXTRAS = {
    "plot": ("matplotlib", "`acclock plot` and the pictures of the demo"),
    "postgres": ("psycopg", "a vault in PostgreSQL"),
    "train": ("torch", "`acclock train`, `adapt` and `export`"),
}
"""Extra -> the package that shows it is there, and what is lost without it."""

KERNELS = {
    "acclock.acquisition._interpolation": "resampling takes its NumPy form, several times slower",
    "acclock.denoising._kernels": "denoising takes its NumPy form, many times slower",
    "acclock.recordings._numbers": "text files are parsed by NumPy, several times slower",
}
"""Compiled module -> what happens without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One part of the installation: whether it works, and what to do when it does not."""

    part: str
    works: bool
    found: str
    advice: str = ""

    def as_dict(self) -> dict[str, object]:
        """Give the finding without its name, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "part"}


def examine() -> list[Finding]:
    """Look at Python, the package, its compiled parts, its extras and the real recordings."""
    return [
        Finding(part="python", works=True, found=sys.version.split()[0]),
        *(_package(name) for name in PACKAGES),
        *(_kernel(name, loss) for name, loss in KERNELS.items()),
        *(_extra(name, package, loss) for name, (package, loss) in EXTRAS.items()),
        _data(),
    ]


def _package(name: str) -> Finding:
    return Finding(part=name, works=True, found=metadata.version(name))


def _kernel(name: str, loss: str) -> Finding:
    if find_spec(name) is not None:
        return Finding(part=name, works=True, found="compiled")
    advice = f"{loss}; reinstall where a C compiler is"
    return Finding(part=name, works=False, found="not compiled", advice=advice)


def _extra(name: str, package: str, loss: str) -> Finding:
    part = f"acclock[{name}]"
    if find_spec(package) is not None:
        return Finding(part=part, works=True, found=f"{package} {metadata.version(package)}")
    advice = f"needed by {loss}: pip install '{part}'"
    return Finding(part=part, works=False, found=f"no {package}", advice=advice)


def _data() -> Finding:
    named = os.environ.get("ACCLOCK_DATA")
    if named and Path(named).is_dir():
        return Finding(part="ACCLOCK_DATA", works=True, found=named)
    return Finding(
        part="ACCLOCK_DATA",
        works=False,
        found=f"{named} is not a folder" if named else "not set",
        advice="only tests and benchmarks on real recordings need it",
    )
