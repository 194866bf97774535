"""The windows of one epoch: as many of each person, drawn anew and in random order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from acclock.pipeline import prepare_contexts
from acclock.training.augmentation import augment
from acclock.training.grid import Windows
from acclock.training.recipe import Recipe
from acclock.training.subjects import Subject, SubjectSession
from acclock.values import BoolArray, FloatArray, Recording


def cut_context(recording: Recording, end: int, length: int) -> tuple[FloatArray, BoolArray]:
    """Give the ``length`` samples before ``end``; those before the recording were not received.

    >>> recording = Recording(samples=np.arange(12.0).reshape(3, 4), rate_hz=100.0)
    >>> samples, received = cut_context(recording, 2, 3)
    >>> samples[0], received
    (array([0., 0., 1.]), array([False,  True,  True]))
    """
    start = max(end - length, 0)
    count = end - start
    samples, received = np.zeros((3, length)), np.zeros(length, dtype=bool)
    samples[:, length - count :] = recording.samples[:, start:end]
    received[length - count :] = recording.received[start:end]
    return samples, received


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Prepared windows and whose they are."""

    windows: Tensor
    """``(batch, axis, sample)``."""
    people: Tensor
    """Numbers from 0, in the order of the subjects."""


@dataclass(frozen=True, slots=True)
class _Draw:
    person: int
    session: SubjectSession
    place: int
    """In the session's grid."""


def draw_batches(
    subjects: Sequence[Subject], recipe: Recipe, *, batch: int, chance: np.random.Generator
) -> Iterator[Batch]:
    """Give the batches of one epoch; what is left over and makes no whole batch is left out."""
    draws = [
        draw
        for person, subject in enumerate(subjects)
        for draw in _draw_person(person, subject, recipe.windows_per_person, chance)
    ]
    order = chance.permutation(len(draws))
    size = min(batch, len(draws))
    for start in range(0, len(draws) - size + 1, size):
        some = [draws[n] for n in order[start : start + size]]
        windows = keep_axes(_prepare(some, recipe, chance), recipe.axes)
        yield Batch(torch.from_numpy(windows), torch.tensor([draw.person for draw in some]))


def keep_axes(windows: Windows, axes: int) -> Windows:
    """Give all three axes, or the vertical one.

    Paper: Sec. 2.1, where the vertical axis is x.
    """
    return np.ascontiguousarray(windows[:, :axes])


def _draw_person(
    person: int, subject: Subject, count: int, chance: np.random.Generator
) -> list[_Draw]:
    """Draw windows without repeating any before all have been drawn."""
    places = [(session, n) for session in subject.sessions for n in range(len(session.grid))]
    rounds = -(-count // len(places))
    order = np.concatenate([chance.permutation(len(places)) for _ in range(rounds)])[:count]
    return [_Draw(person, *places[n]) for n in order]


def _prepare(draws: list[_Draw], recipe: Recipe, chance: np.random.Generator) -> Windows:
    """Prepare raw contexts as the live stream would; what is clean and on the grid is known."""
    if recipe.offsets == "grid" and not recipe.augmentation.changes:
        return np.stack([draw.session.grid.windows[draw.place] for draw in draws])
    config = recipe.prepared.config
    length = config.context_length
    moved = _move(draws, config.window_length if recipe.offsets == "random" else 0, chance)
    contexts, received = _cut(draws, moved, recipe.augmentation.reach(length))
    changed, arrived = augment(
        contexts, received, length=length, augmentation=recipe.augmentation, chance=chance
    )
    return prepare_contexts(changed, arrived, recipe.prepared).astype(np.float32)


def _move(draws: list[_Draw], step: int, chance: np.random.Generator) -> NDArray[np.intp]:
    """Give where each window ends: up to half a step beside its place in the grid."""
    places = np.array([draw.session.grid.ends[draw.place] for draw in draws])
    ends = places + chance.integers(-(step // 2), step // 2, len(draws), endpoint=True)
    return np.minimum(ends, [len(draw.session.recording) for draw in draws])


def _cut(draws: list[_Draw], ends: NDArray[np.intp], length: int) -> tuple[FloatArray, BoolArray]:
    cuts = [
        cut_context(draw.session.recording, int(end), length)
        for draw, end in zip(draws, ends, strict=True)
    ]
    return np.stack([samples for samples, _ in cuts]), np.stack([mask for _, mask in cuts])
