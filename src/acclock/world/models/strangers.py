"""A cohort made: people who do not exist, and blends of several who do."""

from collections.abc import Iterator, Sequence

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.matching.cohort import Cohort
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray
from acclock.world.files import load_all, open_dataset
from acclock.world.models.files import find_model, read_model
from acclock.world.wearing import observe

_WINDOWS_EACH = 8
_SIMULATED_S = 48.0
_BLENDED = 3
"""How many real people go into one stranger: nobody's own vector is ever stored."""
_BLENDS_PER_PERSON = 8


def gather_strangers(model: str, *, data: Sequence[str], simulated: int, seed: int) -> Cohort:
    """Embed simulated people and blends of real ones by a model."""
    embedder = Embedder(read_model(find_model(model)))
    chance = np.random.default_rng(seed)
    strangers = [_simulate_one(index, seed, embedder) for index in range(simulated)]
    strangers += [blend(list(_embed_people(place, embedder)), chance) for place in data]
    return Cohort(embeddings=np.vstack(strangers), model=embedder.fingerprint)


def blend(people: Sequence[FloatArray], chance: np.random.Generator) -> FloatArray:
    """Give vectors that lie between several people each: none of them is anybody's.

    Takes one array of embeddings per person.

    >>> rows = [np.eye(4)[[n]] for n in range(4)]
    >>> blend(rows, np.random.default_rng(0)).shape
    (32, 4)
    """
    blends = []
    for _ in range(_BLENDS_PER_PERSON * len(people)):
        chosen = chance.choice(len(people), size=min(_BLENDED, len(people)), replace=False)
        rows = np.stack([people[who][chance.integers(len(people[who]))] for who in chosen])
        mixed = chance.dirichlet(np.full(len(rows), 2.0)) @ rows
        blends.append(mixed / np.linalg.norm(mixed))
    return np.stack(blends)


def _simulate_one(index: int, seed: int, embedder: Embedder) -> FloatArray:
    scene = Scene(duration_s=_SIMULATED_S)
    worn = simulate(draw_person(index, seed=seed), scene, seed=seed)
    return observe(worn.recording, embedder).good[:_WINDOWS_EACH]


def _embed_people(place: str, embedder: Embedder) -> Iterator[FloatArray]:
    """Give the embeddings of each person of a data set who has any good window."""
    found: dict[str, list[FloatArray]] = {}
    for loaded in load_all(open_dataset(place), rate_hz=embedder.card.rate_hz):
        if loaded.recording is not None and loaded.entry.person is not None:
            good = observe(loaded.recording, embedder).good
            found.setdefault(loaded.entry.person, []).append(good)
    for rows in found.values():
        every = np.vstack(rows)
        if len(every):
            yield every
