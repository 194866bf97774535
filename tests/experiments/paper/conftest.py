"""A scale so small, and a recipe so light, that an experiment takes seconds."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import find_cohort
from acclock.experiments.paper.scales import SCALES, Scale
from acclock.experiments.paper.units import Unit, plan_units
from acclock.experiments.paper.variants import VIEWS

LIGHT = VIEWS + "embedding_width = 16\n[sizes]\nbands = 6\nspectrogram = false\nrhythm = false\n"

TINY = replace(SCALES["quick"], name="tiny", people=6, session_s=32.0, tested_s=16.0)

MakeUnit = Callable[..., Unit]


@pytest.fixture(scope="session")
def tiny() -> Scale:
    return TINY


@pytest.fixture(scope="session")
def make_unit() -> MakeUnit:
    """A unit of an experiment, by the names of both and with a light encoder."""

    def make(experiment: str, variant: str, *, fold: int = 0) -> Unit:
        chosen = list_experiments()[experiment]
        units = plan_units(chosen, find_cohort("simulated"), TINY)
        unit = next(one for one in units if (one.variant.name, one.fold) == (variant, fold))
        return replace(unit, variant=replace(unit.variant, recipe=LIGHT))

    return make
