"""Outcomes on disk: a small JSON file for each experiment, cohort and scale."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from acclock.errors import UnreadableError
from acclock.experiments.paper.cohorts import SIMULATED
from acclock.experiments.paper.units import Outcome, Unit
from acclock.system.files import replacing

_FORMAT = 1
_DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An outcome with where it comes from."""

    key: str
    variant: str
    fold: int
    seed: int
    seconds: float
    outcome: Outcome


class OutcomeStore:
    """The outcomes in a folder, by what they are outcomes of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, unit: Unit) -> Record | None:
        """Give the outcome of a unit, if it was measured before."""
        held = self.read(unit.experiment, unit.cohort.name, unit.scale.name)
        return next((one for one in held if one.key == unit.key), None)

    def put(self, unit: Unit, outcome: Outcome, *, seconds: float) -> None:
        """Keep an outcome; an older one of the same place goes."""
        record = Record(
            key=unit.key,
            variant=unit.variant.name,
            fold=unit.fold,
            seed=unit.seed,
            seconds=round(seconds, 1),
            outcome=outcome,
        )
        held = self.read(unit.experiment, unit.cohort.name, unit.scale.name)
        kept = [one for one in held if _place(one) != _place(record)]
        self._write(unit, sorted([*kept, record], key=_place))

    def read(self, experiment: str, cohort: str, scale: str) -> list[Record]:
        """Give all that was measured of an experiment."""
        file = self._file(experiment, cohort, scale)
        return list(_parse(file)) if file.is_file() else []

    def list_cohorts(self, scale: str) -> list[str]:
        """Give the names of the cohorts of which there are outcomes, the simulated one first."""
        files = self._folder.glob(f"*.*.{scale}.json")
        found = {file.name.split(".")[1] for file in files}
        return sorted(found, key=lambda name: (name != SIMULATED, name))

    def list_makers(self, scale: str) -> list[str]:
        """Give the versions that made the outcomes of a scale, each of them once."""
        files = sorted(self._folder.glob(f"*.*.{scale}.json"))
        told = [json.loads(file.read_text()).get("made_with") for file in files]
        return sorted({one for one in told if one})

    def _write(self, unit: Unit, records: list[Record]) -> None:
        told = [json.dumps(_describe(record), sort_keys=True) for record in records]
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(self._file(unit.experiment, unit.cohort.name, unit.scale.name)) as file:
            lines = ",\n  ".join(told)
            made = json.dumps(_name_maker())
            head = f'{{"format": {_FORMAT}, "made_with": {made}, "units": [\n  '
            file.write(f"{head}{lines}\n]}}\n".encode())

    def _file(self, experiment: str, cohort: str, scale: str) -> Path:
        return self._folder / f"{experiment}.{cohort.replace('.', '-')}.{scale}.json"


def _name_maker() -> str:
    names = ("acclock", "numpy", "torch", "onnxruntime")
    found = [f"{name} {_find_version(name)}" for name in names]
    return ", ".join([f"Python {python_version()}", *found])


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _place(record: Record) -> tuple[int, int, str]:
    return record.seed, record.fold, record.variant


def _describe(record: Record) -> dict[str, object]:
    people = {
        name: {rate: round(value, _DIGITS) for rate, value in rates.items()}
        for name, rates in record.outcome.people.items()
    }
    values = {name: round(value, _DIGITS) for name, value in record.outcome.values.items()}
    series = {
        name: [[round(value, _DIGITS) for value in row] for row in rows]
        for name, rows in record.outcome.series.items()
    }
    place = {"variant": record.variant, "fold": record.fold, "seed": record.seed}
    told = {"key": record.key, "seconds": record.seconds, **place, "people": people}
    return told | {"values": values} | ({"series": series} if series else {})


def _parse(file: Path) -> Iterator[Record]:
    try:
        told = json.loads(file.read_text())
        for one in told["units"]:
            outcome = Outcome(
                people=one.pop("people"), values=one.pop("values"), series=one.pop("series", {})
            )
            yield Record(outcome=outcome, **one)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{file} does not hold outcomes of an experiment") from error
