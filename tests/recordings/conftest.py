"""Files as devices write them, made small."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from acclock.values import FloatArray

WriteTable = Callable[..., Path]


@pytest.fixture
def motion() -> FloatArray:
    """Ten seconds at 100 Hz of a head that lies still, in m/s², gravity included."""
    generator = np.random.default_rng(11)
    beat = 0.3 * np.sin(2 * np.pi * 1.2 * np.arange(1000) / 100.0)
    lying = np.array([[0.1], [5.88], [7.84]])
    return np.asarray(lying + beat + generator.normal(0.0, 0.02, (3, 1000)), dtype=np.float64)


@pytest.fixture
def write_table(tmp_path: Path) -> WriteTable:
    """Write columns under their names, as text."""

    def write(
        name: str, columns: Mapping[str, FloatArray | list[str]], delimiter: str = ","
    ) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = zip(*columns.values(), strict=True)
        lines = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
        return path

    return write
