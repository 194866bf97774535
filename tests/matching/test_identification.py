from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ModelError, SignalError
from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.matching.threshold import RULES
from acclock.matching.verdict import Verdict
from acclock.matching.verification import Identification, Index, choose_best, verify
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.matching.conftest import Crowd


@pytest.mark.parametrize("rule", ["paper", "as-norm", "likelihood"])
def test_everybody_is_named_and_most_strangers_are_unknown(
    crowd: "type[Crowd]", now: datetime, rule: str
) -> None:
    people = crowd(1, scatter=0.6)
    cohort, index = people.cohort(), Index()
    users = {f"user {number}": people.person() for number in range(20)}
    for name, user in users.items():
        windows = people.windows(user, 40)
        index.put(name, enroll(windows, cohort=cohort, now=now, rule=RULES[rule]))

    named = {
        name: index.identify(people.windows(user, 5), cohort=cohort).name
        for name, user in users.items()
    }
    strangers = [
        index.identify(people.windows(people.person(), 5), cohort=cohort).name for _ in range(40)
    ]

    assert named == {name: name for name in users}
    assert sum(name is not None for name in strangers) <= 8  # a chance of 1 in 600 with each of 20


@pytest.mark.parametrize("seed", range(50))
def test_whoever_is_named_would_also_be_verified(
    crowd: "type[Crowd]", now: datetime, seed: int
) -> None:
    people = crowd(seed, scatter=2.0)
    cohort, index = people.cohort(5, 10), Index()
    templates: dict[str, Template] = {}
    for number in range(12):
        windows = people.windows(people.person(), 10)
        templates[str(number)] = enroll(windows, cohort=cohort, now=now)
        index.put(str(number), templates[str(number)])

    query = people.windows(people.person(), 3)
    found = index.identify(query)

    verdicts = {name: verify(template, query) for name, template in templates.items()}
    if found.name is not None:
        assert found.verdict == verdicts[found.name]
        assert verdicts[found.name].accepted
    else:
        assert sum(verdict.accepted for verdict in verdicts.values()) != 1


@given(deeds=st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=40))
def test_an_index_knows_whom_a_dictionary_would(deeds: list[tuple[bool, int]]) -> None:
    directions = np.eye(10)
    index, twin = Index(), dict[str, Template]()
    for add, number in deeds:
        template = _template_at(directions[number])
        if add:
            index.put(str(number), template)
            twin[str(number)] = template
        else:
            index.discard(str(number))
            twin.pop(str(number), None)

    assert len(index) == len(twin)
    for number in range(10):
        found = index.identify(directions[number]).name
        assert found == (str(number) if str(number) in twin else None)


def _template_at(direction: FloatArray) -> Template:
    when = datetime(2025, 1, 1, tzinfo=UTC)
    return Template(
        model="toy",
        center=direction,
        anchor=direction,
        threshold=0.5,
        spread=0.1,
        user_distances=np.array([0.1, 0.2]),
        rule=RULES["paper"],
        goal=2,
        enrolled=when,
        updated=when,
    )


@pytest.mark.parametrize("gone", [3, 9])
def test_whoever_is_discarded_is_gone_from_memory_at_once(gone: int) -> None:
    directions, index = np.eye(10), Index()
    for number in range(10):
        index.put(str(number), _template_at(directions[number]))

    index.discard(str(gone))

    assert str(gone) not in index
    assert index.identify(directions[gone]).name is None
    held = index._centers  # the claim is about the bytes themselves
    assert not (held @ directions[gone].astype(np.float32)).any()


def test_two_who_fit_alike_are_nobody() -> None:
    index = Index()
    index.put("one", _template_at(np.array([1.0, 0.0, 0.0])))
    index.put("twin", _template_at(np.array([1.0, 0.0, 0.0])))

    found = index.identify(np.array([1.0, 0.0, 0.0]))

    assert found.name is None
    assert found.reason == "two enrolled people fit alike"


def test_an_empty_index_knows_nobody() -> None:
    found = Index().identify(np.array([1.0, 0.0]))

    assert (found.name, found.reason, found.verdict) == (None, "nobody is enrolled", None)
    with pytest.raises(TypeError, match="name"):
        bool(found)


def test_a_fault_is_the_reason_and_names_nobody() -> None:
    index = Index()
    index.put("one", _template_at(np.array([1.0, 0.0])))

    found = index.identify(np.array([1.0, 0.0]), faults=["activity"])

    assert (found.name, found.reason) == (None, "hold still")
    assert index.identify(np.zeros(2)).name is None


def test_windows_with_a_fault_do_not_lead_astray() -> None:
    directions, index = np.eye(60), Index()
    for number in range(60):
        index.put(str(number), _template_at(directions[number]))

    found = index.identify(
        np.vstack([directions[59], directions[:40]]), faults=[None] + ["activity"] * 40
    )

    assert found.name == "59"


def test_other_models_and_widths_are_refused(crowd: "type[Crowd]", now: datetime) -> None:
    people = crowd(1)
    windows, index = people.windows(people.person(), 10), Index()
    index.put("one", enroll(windows, cohort=people.cohort(), now=now))
    other = Cohort(embeddings=windows, model="other")

    with pytest.raises(ModelError):
        index.put("two", enroll(windows, cohort=other, now=now))
    with pytest.raises(SignalError, match="2 numbers; this needs 32"):
        index.identify(np.array([1.0, 0.0]))


@given(distances=st.lists(st.floats(0.0, 2.0), min_size=1, max_size=5), order=st.randoms())
def test_of_several_models_the_one_that_fits_clearly_best_names(
    distances: list[float], order: Random
) -> None:
    found = [_found(str(number), distance) for number, distance in enumerate(distances)]
    shuffled = order.sample(found, len(found))

    chosen = choose_best(shuffled)

    nearest, *others = sorted(distances)
    clear = all(other >= 1.0 or (other - nearest) / 0.1 >= 0.25 for other in others)
    assert chosen.name == (str(distances.index(nearest)) if nearest < 1.0 and clear else None)
    assert chosen.name == choose_best(found).name


def test_two_people_of_different_models_who_fit_alike_are_nobody() -> None:
    chosen = choose_best([_found("anna", 0.5), _found("ben", 0.51)])

    assert (chosen.name, chosen.reason) == (None, "two enrolled people fit alike")


def test_a_model_whose_people_fit_alike_does_not_make_way_for_a_worse_one() -> None:
    alike = replace(_found("anna", 0.2), name=None)

    assert choose_best([_found("ben", 0.9), alike]).name is None


def test_who_could_not_be_compared_is_nobody() -> None:
    nobody = Identification(name=None, reason="nobody is enrolled", verdict=None)

    assert choose_best([]).reason == "nobody could be compared"
    assert choose_best([nobody]).name is None
    assert choose_best([nobody, _found("anna", 0.5)]).name == "anna"


def _found(name: str, distance: float) -> Identification:
    verdict = Verdict(distance=distance, threshold=1.0, spread=0.1)
    return Identification(
        name=name if verdict.accepted else None, reason=verdict.reason, verdict=verdict
    )
