"""A cohort made: people who do not exist, and blends of several who do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.errors import TooFewError
from acclock.matching.coaching import measure_widest
from acclock.matching.cohort import Cohort, StrangerKind, hash_stranger, measure_levels
from acclock.models.files import find_model, read_model
from acclock.pipeline.observation import WindowEmbedder, observe
from acclock.recordings import Dataset, load_all, open_dataset
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray

SIMULATED = "simulated"

_WINDOWS_EACH = 8
_SESSIONS = 2
_SIMULATED_S = 88.0
"""Twenty windows after the warm-up: what the check of an enrollment looks at."""
_BLENDED = 3
"""How many real people go into one stranger: nobody's own vector is ever stored."""
_BLENDS_PER_PERSON = 8

Sessions = list[FloatArray]
"""The good windows of one person, session by session."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Crowd:
    """People of one origin: what is kept of them, and how much one of them varies."""

    kind: StrangerKind
    names: tuple[str, ...]
    embeddings: FloatArray


def gather_strangers(model: str, *, data: Sequence[str], simulated: int, seed: int) -> Cohort:
    """Embed simulated people and blends of real ones by a model.

    Of a data set that the model learned from, only those people are blended whom it learned from.
    """
    embedder = Embedder(read_model(find_model(model)))
    chance = np.random.default_rng(seed)
    crowds = [_simulate_crowd(simulated, seed, embedder)]
    crowds += [_blend_crowd(place, embedder, chance) for place in data]
    names = chain.from_iterable(crowd.names for crowd in crowds)
    return Cohort(
        embeddings=np.vstack([crowd.embeddings for crowd in crowds]),
        model=embedder.fingerprint,
        kinds=tuple(crowd.kind for crowd in crowds),
        people=tuple(hash_stranger(name, model=embedder.fingerprint) for name in names),
    )


def blend(people: Sequence[FloatArray], chance: np.random.Generator) -> FloatArray:
    """Give vectors that lie between several people each: none of them is anybody's.

    Takes one array of embeddings per person.

    >>> rows = [np.eye(4)[[n]] for n in range(4)]
    >>> blend(rows, np.random.default_rng(0)).shape
    (32, 4)
    """
    if len(people) < _BLENDED:
        raise TooFewError(what="people to blend", have=len(people), need=_BLENDED)
    blends = []
    for _ in range(_BLENDS_PER_PERSON * len(people)):
        chosen = chance.choice(len(people), size=_BLENDED, replace=False)
        rows = np.stack([people[who][chance.integers(len(people[who]))] for who in chosen])
        mixed = chance.dirichlet(np.full(len(rows), 2.0)) @ rows
        blends.append(mixed / np.linalg.norm(mixed))
    return np.stack(blends)


def _simulate_crowd(count: int, seed: int, embedder: WindowEmbedder) -> _Crowd:
    people = [draw_person(index, seed=seed) for index in range(count)]
    sessions = []
    scene = Scene(duration_s=_SIMULATED_S, rate_hz=embedder.card.rate_hz)
    for person in people:
        scenes = [replace(scene, session=when) for when in range(_SESSIONS)]
        worn = [simulate(person, scene, seed=seed).recording for scene in scenes]
        sessions.append([observe(recording, embedder).good for recording in worn])
    rows = np.vstack([theirs[0][:_WINDOWS_EACH] for theirs in sessions])
    names = tuple(f"{SIMULATED}/{person.name}" for person in people)
    return _gather(SIMULATED, names, sessions, rows)


def _blend_crowd(place: str, embedder: WindowEmbedder, chance: np.random.Generator) -> _Crowd:
    dataset = open_dataset(place)
    origin = dataset.name.lower()
    found: dict[str, Sessions] = {}
    for loaded in load_all(dataset.of(_choose(dataset, embedder)), rate_hz=embedder.card.rate_hz):
        if loaded.recording is not None and loaded.entry.person is not None:
            good = observe(loaded.recording, embedder).good
            found.setdefault(loaded.entry.person, []).append(good)
    people = {who: theirs for who, theirs in found.items() if sum(map(len, theirs))}
    rows = blend([np.vstack(theirs) for theirs in people.values()], chance)
    names = tuple(f"{origin}/{who}" for who in people)
    return _gather(origin, names, list(people.values()), rows)


def _choose(dataset: Dataset, embedder: WindowEmbedder) -> list[str]:
    """Give the people whom the model learned from, so that the others are left to judge it by."""
    origin = dataset.name.lower()
    known = [who for who in dataset.people if embedder.card.learned_from(f"{origin}/{who}")]
    return known or list(dataset.people)


def _gather(
    origin: str, names: tuple[str, ...], sessions: Sequence[Sessions], rows: FloatArray
) -> _Crowd:
    kind = StrangerKind(
        name=origin,
        count=len(rows),
        widest=measure_widest(sessions),
        levels=measure_levels(sessions),
    )
    return _Crowd(kind=kind, names=names, embeddings=rows)
