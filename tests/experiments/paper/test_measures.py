"""Every way of measuring, on people who do not exist and with an encoder that knows little."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from acclock.experiments.paper.measures.variability import measure_beats
from acclock.experiments.paper.studies.lasting import DEVICE
from acclock.experiments.paper.units import Outcome, Unit, do
from acclock.simulation import Scene, draw_person, simulate

MakeUnit = Callable[..., Unit]

WHICH = ("within a session", "between sessions", "between users")


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


def test_an_hour_of_wearing_costs_less_than_a_core_and_holds_no_torch(make_unit: MakeUnit) -> None:
    values = do(make_unit("cost", "2 decisions a second, as shipped")).values

    assert 0 < values["share of a core, %"] < 100
    assert values["resident memory, MB"] < 200  # torch alone takes more
    assert values["radio payload of an hour, MB"] == pytest.approx(3 * 2 * 100 * 3600 / 1e6)


@pytest.mark.paper("Tab. 1")
def test_beats_of_one_person_are_more_alike_than_those_of_two(make_unit: MakeUnit) -> None:
    within, between = (
        do(make_unit("variability", name)).values for name in ("within a session", "between people")
    )

    assert within["correlation, mean"] > between["correlation, mean"] + 0.3
    assert within["J-I, spread in ms"] < between["J-I, spread in ms"]


def test_beats_are_looked_at_up_to_the_ends_of_a_recording() -> None:
    worn = simulate(draw_person(0, seed=0), Scene(duration_s=33.0)).recording

    seen = [
        len(measure_beats(replace(worn, samples=worn.samples[:, n:], received=worn.received[n:])))
        for n in range(0, 400, 50)
    ]

    assert min(seen) >= 6


@pytest.mark.paper("Fig. 3")
def test_pictures_of_a_user_are_more_alike_than_those_of_users(make_unit: MakeUnit) -> None:
    outcome = do(make_unit("wavelets", "a beat of one second"))

    alike = [outcome.values[f"correlation of pictures, {which}"] for which in WHICH]
    assert alike == sorted(alike, reverse=True)
    assert {len(rows) for rows in outcome.series.values()} == {25}
    assert max(max(row) for rows in outcome.series.values() for row in rows) == 1.0


@pytest.mark.paper("Fig. 11")
def test_windows_are_laid_out_person_by_person(make_unit: MakeUnit) -> None:
    raw, encoded = (do(make_unit("neighbors", name)) for name in ("raw windows", "HIDNet"))

    assert raw.series.keys() == encoded.series.keys()
    assert all(len(place) == 2 for places in raw.series.values() for place in places)
    silhouettes = [one.values["silhouette, of -1 to 1"] for one in (raw, encoded)]
    assert silhouettes[1] > silhouettes[0]


def test_a_few_people_teach_a_network_another_earphone(make_unit: MakeUnit) -> None:
    unit = make_unit("device", "HIDNet, adapted by ten people")
    recipe = next(one for one in DEVICE.variants if one.name == unit.variant.name).recipe

    outcome = do(replace(unit, variant=replace(unit.variant, recipe=recipe)))

    assert len(outcome.people) == 11
    assert all(name.startswith("airpods/") for name in outcome.people)
