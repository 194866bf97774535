"""The check of an enrollment takes its limits from the cohort."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.errors import ConfigError, SignalError, TooFewError
from acclock.matching.coaching import find_incoherence, measure_gap, measure_widest
from acclock.matching.cohort import Cohort, StrangerKind
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd


def two_sessions(people: "Crowd", change: float) -> list[FloatArray]:
    who = people.person()
    later = who + change * people.person()
    return [people.windows(who, 20), people.windows(later / np.linalg.norm(later), 20)]


@pytest.mark.parametrize("scatter", [0.3, 0.7, 1.3])
@pytest.mark.parametrize("change", [0.0, 0.4, 0.8])
def test_honest_people_pass_however_an_encoder_scatters_them(
    crowd: "type[Crowd]", scatter: float, change: float
) -> None:
    people = crowd(5, scatter=scatter)
    rows = np.vstack([people.windows(people.person(), 15) for _ in range(40)])
    widest = measure_widest([two_sessions(people, change) for _ in range(60)])
    kind = StrangerKind(name="toys", count=len(rows), widest=widest)
    cohort = Cohort(embeddings=rows, model="toy", kinds=(kind,))

    honest = [np.vstack(two_sessions(people, change)) for _ in range(60)]
    refused = [find_incoherence(rows, cohort) is not None for rows in honest]

    assert np.mean(refused) <= 0.15  # one in twenty, of sixty


def test_the_limit_is_that_of_the_kind_of_people_nearby(crowd: "type[Crowd]") -> None:
    people = crowd(6, scatter=0.3)
    steady, varied = people.person(), people.person()

    def near(who: FloatArray, change: float) -> FloatArray:
        other = who + change * people.person()
        return np.asarray(other / np.linalg.norm(other))

    def wear_twice(who: FloatArray) -> FloatArray:
        return np.vstack([people.windows(who, 20), people.windows(near(who, 0.5), 20)])

    strangers = [near(who, 1.5) for who in (steady, varied) for _ in range(60)]
    kinds = (
        StrangerKind(name="steady", count=60, widest=0.2),
        StrangerKind(name="varied", count=60, widest=0.9),
    )
    cohort = Cohort(embeddings=np.vstack(strangers), model="toy", kinds=kinds)

    assert "two groups" in str(find_incoherence(wear_twice(steady), cohort))
    assert find_incoherence(wear_twice(varied), cohort) is None


def test_a_cohort_without_limits_refuses_two_people_all_the_same(crowd: "type[Crowd]") -> None:
    people = crowd(7)
    cohort = Cohort(embeddings=people.cohort().embeddings, model="toy")
    both = np.vstack([people.windows(people.person(), 40), people.windows(people.person(), 40)])

    assert "two groups" in str(find_incoherence(both, cohort))
    assert find_incoherence(people.windows(people.person(), 80), cohort) is None


def test_the_gap_does_not_hang_on_the_order_or_the_turn_of_windows(crowd: "type[Crowd]") -> None:
    people = crowd(8)
    rows = np.vstack(two_sessions(people, 0.8))
    turn = np.linalg.qr(people.rng.normal(size=(32, 32)))[0]

    gap = measure_gap(rows)

    assert measure_gap(people.rng.permutation(rows)) == pytest.approx(gap)
    assert measure_gap(rows @ turn) == pytest.approx(gap)


def test_a_few_odd_windows_are_no_second_person(crowd: "type[Crowd]") -> None:
    people = crowd(9, scatter=0.2)
    rows = np.vstack([people.windows(people.person(), 90), people.windows(people.person(), 10)])

    assert measure_gap(rows) == 0.0


def test_people_of_one_session_count_and_those_of_none_do_not(crowd: "type[Crowd]") -> None:
    people = crowd(10)
    once = people.windows(people.person(), 20)
    nothing = np.empty((0, 32))

    assert measure_widest([[once], [nothing], []]) == measure_gap(once)
    assert measure_widest([[once, nothing]]) == measure_gap(once)
    with pytest.raises(TooFewError):
        measure_widest([[nothing]])


def test_kinds_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError):
        StrangerKind(name="toys", count=0, widest=0.5)
    with pytest.raises(ConfigError):
        StrangerKind(name="toys", count=1, widest=float("nan"))
    with pytest.raises(SignalError, match="do not add up"):
        Cohort(
            embeddings=np.eye(4),
            model="toy",
            kinds=(StrangerKind(name="toys", count=3, widest=0.5),),
        )
