"""Who takes part in an evaluation, and with which of their recordings."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from itertools import groupby
from pathlib import Path
from typing import Literal, get_args

from acclock.embedding.card import Card
from acclock.errors import ConfigError, ModelError, SignalError, TooFewError
from acclock.matching.cohort import Cohort
from acclock.recordings import Dataset, Loaded, load_all, open_dataset
from acclock.training.grid import RECORDED_HZ, bring_to
from acclock.values import Recording

SHORTEST_S = 60.0
"""Recordings that last less are left out."""
CUT_S = 5.0
"""What is cut off at both ends, where hands are busy with the device."""
MOST_RECORDINGS = 10
"""Of one person, so that nobody counts for much more than the others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Participant:
    """One person with the recordings that count, in the order in which they were taken."""

    name: str
    """With the data set before it, as a model's card knows people: ``mscardio/Subject_0001``."""
    recordings: tuple[Recording, ...]

    def __post_init__(self) -> None:
        if not self.recordings:
            raise SignalError(f"{self.name} takes part without a recording")

    @property
    def device(self) -> str | None:
        return self.recordings[0].device

    def tell(self, label: str) -> str | None:
        """Give what the data set says about the person under a label, if it says anything."""
        told = self.recordings[0].labels.get(label, "").strip()
        return None if told.lower() in ("", "none", "unknown", "nan") else told


def choose_recordings(loaded: Iterable[Loaded]) -> tuple[Recording, ...]:
    """Give the recordings of one person that count: long enough, the first ten, ends cut off."""
    readable = [(one.recording, _moment(one)) for one in loaded if one.recording is not None]
    enough = [(moment, one) for one, moment in readable if one.duration_s >= SHORTEST_S]
    in_order = sorted(enough, key=lambda pair: (pair[0], _count_through(pair[1].session)))
    return tuple(cut_ends(recording) for _, recording in in_order[:MOST_RECORDINGS])


def cut_ends(recording: Recording) -> Recording:
    """Give a recording without its first and its last five seconds.

    >>> import numpy as np
    >>> cut_ends(Recording(samples=np.ones((3, 6000)), rate_hz=100.0)).duration_s
    50.0
    """
    count = round(CUT_S * recording.rate_hz)
    kept = slice(count, len(recording) - count)
    return replace(recording, samples=recording.samples[:, kept], received=recording.received[kept])


def _moment(loaded: Loaded) -> float:
    """Tell when a recording began; where only the day is known, when that began."""
    start = loaded.entry.start or (loaded.recording.start if loaded.recording else None)
    day = loaded.entry.day
    if start is None and day is not None:
        start = datetime.combine(day, time(), UTC)
    return start.timestamp() if start is not None else 0.0


def _count_through(session: str | None) -> list[str | int]:
    """Let session 9 come before session 10."""
    parts = re.split(r"(\d+)", session or "")
    return [int(part) if n % 2 else part for n, part in enumerate(parts)]


DatasetName = Literal["mscardio", "classyglass", "simulated", "folder"]

FEWEST_PEOPLE = 2
_LAYOUTS = {"mscardio": "MSCardio", "classyglass": "ClassyGlass"}
_SIMULATED = "simulated"
_PLACES = {
    "mscardio": "the phone lay on the chest: these figures are not of the ear",
    "classyglass": "the sensor sat on glasses, not in the ear; sessions are activities of one day",
    "simulated": "these people do not exist: the figures say what the simulator's hearts allow",
}

OnProgress = Callable[[int, int], None]
"""Hears how many recordings are read, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GatheredParticipants:
    """Everybody who takes part, and what must be said about them."""

    participants: tuple[Participant, ...]
    notes: tuple[str, ...]


def gather(  # noqa: PLR0913 - who may take part is all that they say
    name: DatasetName,
    path: Path | str,
    *,
    card: Card,
    cohort: Cohort | None = None,
    fewest_recordings: int,
    most_people: int | None = None,
    on_progress: OnProgress | None = None,
) -> GatheredParticipants:
    """Read the first people of a data set of whom there is enough and whom the model never met.

    Nobody whom the cohort beside the model was made from takes part either.
    """
    dataset = _open(name, path)
    source = dataset.name.lower() if name != _SIMULATED else _SIMULATED
    counts = Counter(entry.person for entry in dataset)
    candidates = [who for who in dataset.people if counts[who] >= fewest_recordings]
    learned = {who for who in candidates if _is_known(card.learned_from, source, who)}
    mixed = set() if cohort is None else {
        who for who in candidates if _is_known(cohort.was_made_from, source, who)
    }  # fmt: skip
    strangers = [who for who in candidates if who not in learned | mixed]
    if len(strangers) < FEWEST_PEOPLE and (learned or mixed):
        what = f"model {card.name} learned" if learned else f"cohort of {card.name} was made"
        raise ModelError(
            f"the {what} from {len(learned or mixed)} of the {len(candidates)} people in {path};"
            f" it can be evaluated only on people it has never met, at least {FEWEST_PEOPLE}"
        )
    chosen = dataset.of(strangers[:most_people])
    loaded = load_all(chosen, rate_hz=max(card.rate_hz, RECORDED_HZ), on_progress=on_progress)
    participants = _admit(loaded, source, card.rate_hz, fewest_recordings)
    if len(participants) < FEWEST_PEOPLE:
        what = f"people in {path} with {fewest_recordings} or more recordings of {SHORTEST_S:g} s"
        raise TooFewError(what=what, have=len(participants), need=FEWEST_PEOPLE)
    turned_away = _turned_away(card, len(learned), len(mixed - learned))
    return GatheredParticipants(
        participants=participants, notes=(*_note(source, counts[None]), *turned_away)
    )


def _open(name: str, path: Path | str) -> Dataset:
    if name not in get_args(DatasetName):
        names = ", ".join(get_args(DatasetName))
        raise ConfigError(f"there is no data set {name!r}; there are {names}")
    dataset = open_dataset(path)
    if dataset.name != _LAYOUTS.get(name, dataset.name):
        raise ConfigError(f"{path} does not hold {name}; call it by what it is, or `folder`")
    if name == _SIMULATED and not all(who.startswith("simulated-") for who in dataset.people):
        raise ConfigError(f"{path} holds people who were not simulated; call it `folder`")
    return dataset


def _is_known(knows: Callable[[str], bool], source: str, person: str) -> bool:
    """Tell whether somebody knows a person; simulated ones have one name everywhere."""
    return any(knows(f"{where}/{person}") for where in (source, _SIMULATED))


def _admit(
    loaded: Iterable[Loaded], source: str, rate_hz: float, fewest: int
) -> tuple[Participant, ...]:
    by_person = sorted(loaded, key=lambda one: one.entry.person or "")
    participants = []
    for person, group in groupby(by_person, key=lambda one: one.entry.person):
        recordings = choose_recordings(_bring(one, rate_hz) for one in group)
        if len(recordings) >= fewest:
            participants.append(Participant(name=f"{source}/{person}", recordings=recordings))
    return tuple(participants)


def _bring(one: Loaded, rate_hz: float) -> Loaded:
    if one.recording is None:
        return one
    return replace(one, recording=bring_to(one.recording, rate_hz))


def _note(source: str, nameless: int) -> tuple[str, ...]:
    notes = [_PLACES[source]] if source in _PLACES else []
    if nameless:
        notes.append(f"{nameless} recordings do not say whose they are and were left out")
    return tuple(notes)


def _turned_away(card: Card, learned: int, mixed: int) -> tuple[str, ...]:
    reasons = {
        f"the model {card.name} learned from them": learned,
        f"the cohort of {card.name} was made from them": mixed,
    }
    return tuple(f"{n} people were turned away: {why}" for why, n in reasons.items() if n)
