"""Paper and ours side by side."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import find_cohort
from acclock.experiments.paper.report import write_report
from acclock.experiments.paper.scales import SCALES, Scale
from acclock.experiments.paper.store import OutcomeStore
from acclock.experiments.paper.summary import summarize
from acclock.experiments.paper.units import Outcome, plan_units

QUICK = SCALES["quick"]


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    """Of three people a fold: half the rate of false accepts in the first variant of movements."""
    for name in ("users", "movements"):
        for unit in plan_units(list_experiments()[name], find_cohort("simulated"), QUICK):
            rate = 0.1 if unit.variant.name == "still" else 0.2
            people = {
                f"simulated/p{unit.fold}{n}": {"far": rate + n / 100, "frr": rate} for n in range(3)
            }
            OutcomeStore(tmp_path).put(unit, Outcome(people=people), seconds=2.0)
    return tmp_path


def test_rows_hold_means_over_people_and_the_worst(outcomes: Path) -> None:
    records = OutcomeStore(outcomes).read("users", "simulated", "quick")

    summed = summarize(list_experiments()["users"], {"simulated": records}, scale=QUICK)

    rows = {row.what: row for row in summed}

    assert rows["far"].simulated is not None
    assert rows["far"].simulated.figure.value == pytest.approx(0.11)
    assert rows["far"].simulated.people == 9
    assert rows["far"].differences == [pytest.approx(0.11 - 0.0313)]
    assert rows["worst far"].simulated is not None
    assert rows["worst far"].simulated.figure.value == pytest.approx(0.12)
    assert rows["far"].real is None


def test_the_other_variants_are_compared_with_the_first(outcomes: Path) -> None:
    records = OutcomeStore(outcomes).read("movements", "simulated", "quick")

    rows = summarize(list_experiments()["movements"], {"simulated": records}, scale=QUICK)

    chances = {
        row.variant: row.simulated.chance for row in rows if row.what == "far" and row.simulated
    }
    assert chances["still"] is None
    # nine of nine differ the same way: 2 / 2**9, asked twenty times
    assert chances["run"] == pytest.approx(20 * 2 / 2**9)


def test_a_smoke_test_says_so_and_nothing_is_claimed_that_did_not_run(outcomes: Path) -> None:
    files = write_report(list(list_experiments().values()), scale=QUICK, out=outcomes)

    told = Path(files["md"]).read_text()
    assert "smoke test" in told
    assert re.search(r"Not run at this scale: .*postures", told)
    assert "| run | FAR | 40.00 % | 21.00 (" in told


def test_an_experiment_that_is_not_finished_says_so(outcomes: Path) -> None:
    unit = next(plan_units(list_experiments()["music"], find_cohort("simulated"), QUICK))
    OutcomeStore(outcomes).put(
        unit, Outcome(people={"a": {"far": 0.1}, "b": {"far": 0.2}}), seconds=1.0
    )

    files = write_report(list(list_experiments().values()), scale=QUICK, out=outcomes)

    told = Path(files["md"]).read_text()
    assert "only 1 of 12 units" in told
    assert told.count("only") == 1


def test_the_page_needs_nothing_beside_itself(outcomes: Path) -> None:
    files = write_report([list_experiments()["users"]], scale=QUICK, out=outcomes)

    page = Path(files["html"]).read_text()
    assert "<svg" in page
    assert not re.search(r"(src|href)=", page)


def test_curves_points_and_pictures_are_drawn(outcomes: Path) -> None:
    known = list_experiments()
    drawn = {
        "users": {"det": [[0.001, 0.5], [0.5, 0.01]]},
        "neighbors": {"anna": [[0.0, 1.0], [2.0, 3.0]], "bert": [[5.0, 5.0]]},
        "wavelets": {"user 1": [[0.0, 1.0, 1.0], [0.5, 0.5, 0.0]]},
        "days": {"anna": [[3.0, 0.5], [20.0, 1.0]]},
    }
    people = {"a": {"far": 0.1, "frr": 0.3}, "b": {"far": 0.2, "frr": 0.1}}
    for name, series in drawn.items():
        unit = next(plan_units(known[name], find_cohort("simulated"), QUICK))
        OutcomeStore(outcomes).put(unit, Outcome(people=people, series=series), seconds=1.0)

    page = Path(
        write_report([known[name] for name in drawn], scale=QUICK, out=outcomes)["html"]
    ).read_text()

    assert page.count("<polyline") == 2  # a DET curve, and a person's days
    assert page.count('r="2.2"') == 3  # windows in a plane
    # equal neighbors of a picture are one: two in the first row, two in the second
    assert page.count('fill="rgb(') == 4
    assert "Made with Python" in page


def test_networks_that_have_not_converged_are_not_compared(tmp_path: Path) -> None:
    baselines = list_experiments()["baselines"]
    for unit in plan_units(baselines, find_cohort("simulated"), QUICK):
        rate = 0.1 if unit.variant.name == "HIDNet" else 0.3
        people = {f"p{unit.fold}{n}": {"far": rate + n / 100, "frr": rate} for n in range(3)}
        OutcomeStore(tmp_path).put(unit, Outcome(people=people), seconds=1.0)
    held = {"simulated": OutcomeStore(tmp_path).read("baselines", "simulated", "quick")}

    early, late = (
        {
            row.variant
            for row in summarize(baselines, held, scale=replace(QUICK, epochs=epochs))
            if row.simulated and row.simulated.chance is not None
        }
        for epochs in (8, 100)
    )

    assert early == set()  # what the others would be compared with has not converged
    assert late == {"CNN", "measured views, whitened (shipped)"}  # the slow ones have one epoch


def test_other_scales_stay_apart(outcomes: Path) -> None:
    standard: Scale = replace(SCALES["standard"])

    files = write_report([list_experiments()["users"]], scale=standard, out=outcomes)

    assert "Not run at this scale: users" in Path(files["md"]).read_text()
