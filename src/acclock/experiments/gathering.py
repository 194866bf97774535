"""The people of a data set, read for an evaluation; whoever the model knows is turned away."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Literal, get_args

from acclock.embedding.card import Card
from acclock.errors import ConfigError, ModelError, TooFewError
from acclock.experiments.participants import SHORTEST_S, Participant, choose_recordings
from acclock.matching.cohort import Cohort
from acclock.training.rates import RECORDED_HZ, bring_to
from acclock.world.files import Dataset, Loaded, load_all, open_dataset

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
class Gathering:
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
) -> Gathering:
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
    return Gathering(participants=participants, notes=(*_note(source, counts[None]), *turned_away))


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
