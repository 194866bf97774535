"""The smallest piece of work: one variant of one experiment, in one fold, from one seed."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module

from acclock.experiments.paper.cohorts import Cohort
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.variants import FOLDS, Experiment, Variant

VERSIONS = {"people": 1, "encoder": 1, "protocol": 1}
"""Of the stages that all experiments share: raised when one of them gives other figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """All that decides an outcome."""

    experiment: str
    measure: str
    version: int
    variant: Variant
    fold: int
    seed: int
    cohort: Cohort
    scale: Scale

    @property
    def key(self) -> str:
        """A name for the outcome: another version, setting or data set is another name."""
        told = {
            "versions": VERSIONS | {"experiment": self.version},
            "measure": self.measure,
            "variant": self.variant.config,
            "place": [self.fold, self.seed],
            "data": self.cohort.fingerprint,
            "scale": asdict(self.scale),
        }
        text = json.dumps(told, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out: rates of people, or figures of nobody in particular."""

    people: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)


def plan_units(experiment: Experiment, cohort: Cohort, scale: Scale) -> Iterator[Unit]:
    """Cut an experiment into units, those of a fold together: they share its encoder."""
    for seed in scale.seeds:
        for fold in range(FOLDS if experiment.in_folds else 1):
            for variant in experiment.variants:
                yield Unit(
                    experiment=experiment.name,
                    measure=experiment.measure,
                    version=experiment.version,
                    variant=variant,
                    fold=fold,
                    seed=seed,
                    cohort=cohort,
                    scale=scale,
                )


def do(unit: Unit) -> Outcome:
    """Measure a unit. Nothing but the unit decides what comes out."""
    measured = import_module(f"acclock.experiments.paper.measures.{unit.measure}").measure(unit)
    if not isinstance(measured, Outcome):
        raise TypeError(f"{unit.measure} gave {type(measured).__name__} and no outcome")
    return measured
