"""Whose hearts an experiment is about: simulated people, or those of a data set."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np

from acclock.errors import ConfigError, TooFewError, UnreadableError
from acclock.experiments.paper.cache import NO_CACHE, Cache
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.variants import FOLDS
from acclock.experiments.participants import SHORTEST_S, cut_ends
from acclock.simulation import Person, Scene, draw_person, simulate
from acclock.training.corpora import open_recordings, person_of
from acclock.training.grid import RECORDED_HZ
from acclock.values import Recording

FEWEST_PEOPLE = 2 * FOLDS
"""In each fold a person and a stranger."""
SIMULATED = "simulated"
MSCARDIO = "mscardio"
_PUBLISHED = "github.com/TaebiLab/MSCardio, doi.org/10.5281/zenodo.15657893"
MOTIONS_PUBLISHED = "github.com/MU-Smart/ClassyGlass"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCohort:
    """A data set by name, or the simulator."""

    name: str
    path: Path | None
    fingerprint: str
    """Of all its bytes; other data are another cohort."""
    motions: Path | None = None
    """Recorded heads that move, to be added to hearts at rest."""
    motions_fingerprint: str = ""
    cache: Cache = NO_CACHE
    """Where windows and encoders are kept; they decide nothing."""

    @property
    def is_real(self) -> bool:
        return self.path is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """One person with the recordings that count, the oldest first."""

    name: str
    recordings: tuple[Recording, ...]
    person: Person | None = None
    """Who was simulated."""


def find_cohort(
    name: str,
    data: Path | None = None,
    *,
    motions: Path | None = None,
    cache: Cache = NO_CACHE,
) -> StudyCohort:
    """Give a cohort by its name, or the data set in a folder or zip."""
    if name == SIMULATED:
        return StudyCohort(name=SIMULATED, path=None, fingerprint=SIMULATED, cache=cache)
    if name == MSCARDIO and data is None:
        raise ConfigError(
            f"--data must say where MSCardio lies, as a folder or zip; it is at {_PUBLISHED}"
        )
    path = data or Path(name)
    if not path.exists() and name == MSCARDIO:
        raise UnreadableError(f"{path} is not there; MSCardio is at {_PUBLISHED}")
    if not path.exists():
        raise UnreadableError(f"{path} is neither a data set nor 'simulated' nor 'mscardio'")
    called = MSCARDIO if name == MSCARDIO else path.stem
    if motions is not None and not motions.exists():
        raise UnreadableError(f"{motions} is not there; heads that move are at {MOTIONS_PUBLISHED}")
    return StudyCohort(
        name=called,
        path=path,
        fingerprint=_hash(path),
        motions=motions,
        motions_fingerprint=_hash(motions) if motions else "",
        cache=cache,
    )


@lru_cache(maxsize=2)
def gather_members(cohort: StudyCohort, scale: Scale, seed: int) -> tuple[Member, ...]:
    """Give everybody who takes part, always in the same order."""
    if cohort.path is None:
        return tuple(_simulate(index, scale, seed) for index in range(scale.people))
    place = open_recordings(str(cohort.path), rate_hz=RECORDED_HZ, on_progress=lambda *_: None)
    long = [one for one in place.recordings if one.duration_s >= SHORTEST_S]
    members = tuple(
        Member(
            name=f"{cohort.name}/{who}",
            recordings=tuple(cut_ends(one) for one in theirs),
        )
        for who, theirs in groupby(sorted(long, key=person_of), key=person_of)
    )
    if len(members) < FEWEST_PEOPLE:
        what = f"people in {cohort.path} for three folds"
        raise TooFewError(what=what, have=len(members), need=FEWEST_PEOPLE)
    return members[: scale.real_people]


def _simulate(index: int, scale: Scale, seed: int) -> Member:
    person = draw_person(index, seed=seed)
    scenes = [Scene(duration_s=scale.session_s, session=when) for when in range(scale.sessions)]
    recordings = tuple(simulate(person, scene).recording for scene in scenes)
    return Member(name=f"{SIMULATED}/{person.name}", recordings=recordings, person=person)


def deal(members: Sequence[Member], *, seed: int) -> dict[str, int]:
    """Give people their fold. Who came only once is learned from, where enough came again.

    Paper: Sec. 7.1.1, three groups of people, of whom one is always kept apart.
    """
    again = [one.name for one in members if len(one.recordings) > 1]
    names = again if len(again) >= FEWEST_PEOPLE else [one.name for one in members]
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[who]: place % FOLDS for place, who in enumerate(order)}


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for file in files:
        digest.update(file.relative_to(path).as_posix().encode())
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:16]
