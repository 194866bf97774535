"""The encoder of a fold: trained once, on everybody but those who are tried."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import safetensors.torch

from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import TooFewError
from acclock.experiments.paper.cache import Cache, Piece, cut_once, digest, lose
from acclock.experiments.paper.cohorts import Member, StudyCohort, deal, gather_members
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.units import VERSIONS
from acclock.matching.centers import are_unit
from acclock.matching.cohort import Cohort as Strangers
from acclock.pipeline import Preparation
from acclock.training.batches import keep_axes
from acclock.training.export import embed_eagerly
from acclock.training.grid import Windows
from acclock.training.recipe import Recipe, read_recipe, write_recipe
from acclock.training.run import Run
from acclock.training.subjects import FEWEST_WINDOWS, Subject, SubjectSession
from acclock.values import FloatArray


def learn_once(recipe: Recipe, subjects: Sequence[Subject], *, cache: Cache) -> EmbeddingModel:
    """Train a model on these people, or take the one that was trained on the same before."""
    name = f"{digest(_list_causes(recipe, subjects))}.safetensors"
    if (packed := cache.find(name)) is not None:
        model = build(
            recipe.network,
            shape=recipe.shape,
            people=len(subjects),
            seed=recipe.seed,
            config=recipe.network_config,
            embedding_width=recipe.embedding_width,
        )
        model.load_state_dict(safetensors.torch.load(packed))
        return model.eval()
    run = Run(recipe, subjects)
    while not run.finished:
        run.advance()
    weights = {key: tensor.contiguous() for key, tensor in run.model.state_dict().items()}
    cache.keep(name, bytes(safetensors.torch.save(weights)))
    return run.model


def _list_causes(recipe: Recipe, subjects: Sequence[Subject]) -> Iterator[bytes]:
    """Tell all that a training hangs on: the recipe, the sizes and every sample, in order."""
    yield f"{VERSIONS['encoder']} {write_recipe(recipe)} {recipe.network_config}".encode()
    for subject in subjects:
        yield subject.source.encode()
        for session in subject.sessions:
            yield session.grid.windows.tobytes()
            yield session.grid.ends.tobytes()
            yield session.recording.samples.tobytes()


STRANGER_WINDOWS = 15
"""Of each person learned from, to set thresholds by: a minute, as in the paper."""
_LOSSES = (0.0, 0.1, 0.2, 0.3)
"""Up to which share the samples of every fourth recording are lost, in training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderRequest:
    """All that decides what an encoder becomes."""

    cohort: StudyCohort
    scale: Scale
    fold: int
    seed: int
    recipe: str
    learned: int | None
    learns_lost: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoder:
    """A trained model, and strangers whom nobody will meet again."""

    model: EmbeddingModel
    preparation: Preparation
    axes: int
    strangers: Strangers

    def embed(self, windows: Windows) -> FloatArray:
        """Give a row for each window; not of length one where nothing can be made of it."""
        return embed_eagerly(self.model, keep_axes(windows, self.axes))


@lru_cache(maxsize=6)
def train_encoder(lesson: EncoderRequest) -> Encoder:
    """Train on all people but those of the fold; strangers for thresholds are among the former.

    Paper: Sec. 7.1.1, where two groups of people train and the third is only tried.
    """
    recipe = replace(read_recipe(lesson.recipe), seed=lesson.seed)
    subjects = list(_find_subjects(lesson, recipe))
    if len(subjects) < 2:
        raise TooFewError(what="people to learn from", have=len(subjects), need=2)
    model = learn_once(recipe, subjects, cache=lesson.cohort.cache)
    windows = np.concatenate([_choose_evenly(subject) for subject in subjects])
    rows = embed_eagerly(model, keep_axes(windows, recipe.axes))
    return Encoder(
        model=model,
        preparation=recipe.prepared,
        axes=recipe.axes,
        strangers=Strangers(embeddings=rows[are_unit(rows)], model="fold"),
    )


@lru_cache(maxsize=4)
def cut_members(
    cohort: StudyCohort, scale: Scale, seed: int, preparation: Preparation
) -> dict[str, tuple[Piece, ...]]:
    """Give everybody's windows by name."""
    return {
        member.name: tuple(
            cut_once(recording, preparation, cache=cohort.cache, session=when)
            for when, recording in enumerate(member.recordings)
        )
        for member in gather_members(cohort, scale, seed)
    }


@lru_cache(maxsize=128)
def embed_member(lesson: EncoderRequest, name: str) -> tuple[FloatArray, ...]:
    """Give the embeddings of somebody's recordings: the variants of an experiment share them."""
    encoder = train_encoder(lesson)
    pieces = cut_members(lesson.cohort, lesson.scale, lesson.seed, encoder.preparation)[name]
    return tuple(encoder.embed(piece.windows) for piece in pieces)


def find_tried(cohort: StudyCohort, scale: Scale, *, fold: int, seed: int) -> list[Member]:
    """Give the people of a fold."""
    members = gather_members(cohort, scale, seed)
    folds = deal(members, seed=seed)
    return [member for member in members if folds.get(member.name) == fold]


def _find_subjects(lesson: EncoderRequest, recipe: Recipe) -> Iterator[Subject]:
    members = gather_members(lesson.cohort, lesson.scale, lesson.seed)
    folds = deal(members, seed=lesson.seed)
    for number, member in enumerate(members):
        if folds.get(member.name) == lesson.fold:
            continue
        sessions = [piece.learned() for piece in _find_pieces(lesson, recipe, number, member)]
        sessions = _thin_out([one for one in sessions if len(one.grid)], lesson.learned)
        if sum(len(one.grid) for one in sessions) >= FEWEST_WINDOWS:
            yield Subject(name=member.name, source=lesson.cohort.name, sessions=tuple(sessions))


def _find_pieces(
    lesson: EncoderRequest, recipe: Recipe, number: int, member: Member
) -> tuple[Piece, ...]:
    if not lesson.learns_lost:
        known = cut_members(lesson.cohort, lesson.scale, lesson.seed, recipe.prepared)
        return known[member.name]
    chance = np.random.default_rng([lesson.seed, number])
    shares = [chance.uniform(0.0, _LOSSES[n % 4]) for n in range(len(member.recordings))]
    return tuple(
        cut_once(lose(recording, share, chance), recipe.prepared, cache=lesson.cohort.cache)
        for recording, share in zip(member.recordings, shares, strict=True)
    )


def _thin_out(sessions: list[SubjectSession], most: int | None) -> list[SubjectSession]:
    """Keep so many windows of a person, evenly spread."""
    total = sum(len(one.grid) for one in sessions)
    if most is None or total <= most:
        return sessions
    kept = np.zeros(total, dtype=bool)
    kept[np.linspace(0, total - 1, most).round().astype(int)] = True
    masks = np.split(kept, np.cumsum([len(one.grid) for one in sessions])[:-1])
    return [
        replace(
            one, grid=replace(one.grid, windows=one.grid.windows[mask], ends=one.grid.ends[mask])
        )
        for one, mask in zip(sessions, masks, strict=True)
        if mask.any()
    ]


def _choose_evenly(subject: Subject) -> Windows:
    windows = np.concatenate([session.grid.windows for session in subject.sessions])
    count = min(STRANGER_WINDOWS, len(windows))
    return np.asarray(windows[np.linspace(0, len(windows) - 1, count).astype(int)])
