"""The smallest piece of work: one variant of one experiment, in one fold with one seed."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from acclock.experiments.paper.cohorts import StudyCohort
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.variants import FOLDS, Experiment, Variant

VERSIONS = {"people": 1, "encoder": 1, "protocol": 1}
"""Raised, each by whoever changes what its stage gives: older outcomes are then measured again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """All that decides an outcome."""

    experiment: str
    measure: str
    version: int
    variant: Variant
    fold: int
    seed: int
    cohort: StudyCohort
    scale: Scale

    @property
    def _motions(self) -> str:
        """Which recorded motion takes part, where a heart at rest is to move."""
        moves = self.cohort.path is not None and "movement" in self.variant.scene
        return self.cohort.motions_fingerprint if moves else ""

    @property
    def recipe(self) -> str:
        """How the encoder is trained, with as many epochs as the scale can afford."""
        return self.scale.fill_in(self.variant.recipe)

    @property
    def key(self) -> str:
        """A name for the outcome: another version, setting or data set is another name."""
        told = {
            "versions": VERSIONS | {"experiment": self.version},
            "measure": self.measure,
            "variant": self.variant.config | {"recipe": self.recipe},
            "place": [self.fold, self.seed],
            "data": self.cohort.fingerprint + self._motions,
            "scale": self.scale.config,
        }
        text = json.dumps(told, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out: rates of people, figures of nobody in particular, or what can be drawn."""

    people: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    """Rows of numbers by name: a curve, points in a plane, or a picture."""


def plan_units(experiment: Experiment, cohort: StudyCohort, scale: Scale) -> Iterator[Unit]:
    """Cut an experiment into units, fold by fold of a variant.

    Variants of one fold often share an encoder. Were they neighbors, processes that begin them at
    once would each train it.
    """
    for seed in scale.seeds:
        for variant in experiment.choose(cohort.is_real, whole_grids=scale.whole_grids):
            for fold in range(FOLDS if experiment.in_folds else 1):
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
