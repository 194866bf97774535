"""Every way of measuring, on people who do not exist and with an encoder that knows little."""

from collections.abc import Callable

import pytest

from acclock.experiments.paper.units import Outcome, Unit, do

MakeUnit = Callable[..., Unit]


def mean(outcome: Outcome, rate: str) -> float:
    return sum(one[rate] for one in outcome.people.values()) / len(outcome.people)


@pytest.mark.parametrize(
    ("experiment", "variant"),
    [
        ("registration", "5 windows"),
        ("training-size", "75 windows of 4 s"),
        ("movements", "talk, 10 windows of it enrolled"),
        ("packet-loss", "30 %, learned"),
        ("weeks", "week 8, updated weekly"),
        ("removal", "second 0 to 1"),
    ],
)
def test_every_rate_of_everybody_is_a_share(
    make_unit: MakeUnit, experiment: str, variant: str
) -> None:
    outcome = do(make_unit(experiment, variant))

    assert len(outcome.people) == 2
    assert all(0 <= rate <= 1 for one in outcome.people.values() for rate in one.values())


def test_folds_share_nobody(make_unit: MakeUnit) -> None:
    names = [
        name for fold in range(3) for name in do(make_unit("users", "still", fold=fold)).people
    ]

    assert len(names) == len(set(names)) == 6


def test_patients_are_others_than_those_learned_from(make_unit: MakeUnit) -> None:
    outcome = do(make_unit("conditions", "bradycardia"))

    assert len(outcome.people) == 5
    assert all(name.startswith("bradycardia/") for name in outcome.people)


def test_running_is_harder_than_sitting_still(make_unit: MakeUnit) -> None:
    still, running = (do(make_unit("movements", name)) for name in ("still", "run"))

    assert mean(running, "frr") > mean(still, "frr")


def test_the_blocks_of_a_window_add_up(make_unit: MakeUnit) -> None:
    values = do(make_unit("latency", "the shipped model at 100 Hz")).values

    blocks = ("denoising, ms", "features, ms", "deciding, ms")
    assert values["sum, ms"] == pytest.approx(sum(values[name] for name in blocks))
