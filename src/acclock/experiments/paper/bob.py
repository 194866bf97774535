"""Scores as lines of four columns, which bob and its relatives read.

``claimed_id real_id test_label score``: who the template is of, who wore the earphone, which
window it was, and how alike they are. The larger, the more alike: our distances, negated.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from acclock.errors import UnreadableError
from acclock.values import FloatArray
from acclock.world.replacing import replacing


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One window against one template."""

    claimed: str
    real: str
    label: str
    score: float


def write_scores(lines: Iterable[ScoreLine], path: Path) -> int:
    """Write a file of scores, whole or not at all, and say how many; names lose their spaces."""
    count = 0
    with replacing(path) as file:
        for line in lines:
            told = [_join(one) for one in (line.claimed, line.real, line.label)]
            file.write(f"{' '.join(told)} {line.score:.6f}\n".encode())
            count += 1
    return count


def read_scores(path: Path) -> list[ScoreLine]:
    """Read a file of scores; empty lines and those that begin with # are left out."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read as scores: {error}") from error
    told = [(n, line.split()) for n, line in enumerate(text.splitlines(), 1)]
    return [_parse(path, n, words) for n, words in told if words and words[0][0] != "#"]


def split_scores(lines: Iterable[ScoreLine]) -> tuple[FloatArray, FloatArray]:
    """Give the distances of people's own windows, and those of strangers."""
    own: list[float] = []
    others: list[float] = []
    for line in lines:
        (own if line.claimed == line.real else others).append(-line.score)
    return np.array(own), np.array(others)


def _join(name: str) -> str:
    return "_".join(name.split()) or "_"


def _parse(path: Path, number: int, words: list[str]) -> ScoreLine:
    try:
        claimed, real, label, score = words
        line = ScoreLine(claimed, real, label, float(score))
    except ValueError as error:
        raise UnreadableError(
            f"line {number} of {path} is not 'claimed_id real_id test_label score'"
        ) from error
    if math.isnan(line.score):
        raise UnreadableError(f"the score in line {number} of {path} is not a number")
    return line
