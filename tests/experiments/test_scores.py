from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.experiments.bootstrap import draw_people, equal_errors, fnmr_where
from acclock.experiments.gallery import Gallery
from acclock.experiments.participants import Participant
from acclock.experiments.scores import Score, score
from acclock.experiments.tally import choose_thresholds, tally
from acclock.experiments.trials import Trials, enroll_all, plan_cross_session, try_all
from acclock.matching.rates import equal_error, fnmr_at_fmr
from acclock.values import FloatArray, Recording

PEOPLE = 4


def meet(own: Callable[[int], FloatArray], others: Callable[[int], FloatArray]) -> Trials:
    """Lay distances of four people so that each column is one template."""
    wearers = np.repeat(np.arange(PEOPLE), 50)
    same = wearers[:, np.newaxis] == np.arange(PEOPLE)
    distances = np.empty(same.shape)
    distances[same] = own(int(np.count_nonzero(same)))
    distances[~same] = others(int(np.count_nonzero(~same)))
    return Trials(
        windows=1,
        distances=distances,
        wearers=wearers,
        owners=np.arange(PEOPLE),
        own=same,
        others=~same,
    )


def take_part(*labels: dict[str, str], device: str = "a phone") -> list[Participant]:
    return [
        Participant(
            name=f"toy/{n}",
            recordings=(
                Recording(samples=np.zeros((3, 1)), rate_hz=100.0, labels=told, device=device),
            ),
        )
        for n, told in enumerate(labels)
    ]


def score_plainly(trials: Trials, people: Sequence[Participant] | None = None) -> Score:
    draws = draw_people(trials.people, rounds=300, seed=0)
    return score(trials, people or take_part(*[{}] * trials.people), draws=draws)


def walk_thresholds(own: FloatArray, others: FloatArray) -> float:
    best = (2.0, 1.0)
    for threshold in sorted({*own.tolist(), *others.tolist()}):
        far = sum(d < threshold for d in others) / len(others)
        frr = sum(d >= threshold for d in own) / len(own)
        if abs(far - frr) < best[0]:
            best = (abs(far - frr), (far + frr) / 2)
    return best[1]


def test_people_who_are_all_alike_are_told_apart_by_chance() -> None:
    rng = np.random.default_rng(0)
    trials = meet(lambda n: rng.uniform(0.5, 1.0, n), lambda n: rng.uniform(0.5, 1.0, n))

    found = score_plainly(trials)

    assert found.equal_error.value == pytest.approx(0.5, abs=0.05)
    assert found.mean_equal_error.value == pytest.approx(0.5, abs=0.08)


def test_people_who_lie_apart_are_never_confused_but_that_is_not_proof() -> None:
    trials = meet(lambda n: np.linspace(0.1, 0.4, n), lambda n: np.linspace(0.6, 1.2, n))

    found = score_plainly(trials)

    assert found.equal_error.value == found.mean_equal_error.value == 0.0
    assert found.fnmr_at_wanted_fmr is not None
    assert found.fnmr_at_wanted_fmr.value == 0.0
    assert found.equal_error.high == pytest.approx(3 / PEOPLE)


@settings(max_examples=10)
@given(seed=st.integers(0, 200), apart=st.floats(0, 0.5))
def test_the_pooled_error_is_that_of_a_plain_walk(seed: int, apart: float) -> None:
    rng = np.random.default_rng(seed)
    trials = meet(
        lambda n: rng.normal(0.6, 0.15, n).round(2), lambda n: rng.normal(0.6 + apart, 0.15, n)
    )

    found = score_plainly(trials)

    own, others = trials.distances[trials.own], trials.distances[trials.others]
    assert found.equal_error.value == pytest.approx(walk_thresholds(own, others))


def test_drawing_everyone_once_gives_the_figures_of_all(
    make_gallery: Callable[..., Gallery],
) -> None:
    gallery = make_gallery(*[[40, 40]] * 6, scatter=0.6)
    planned = plan_cross_session(gallery)
    trials = try_all(gallery, planned, enroll_all(gallery, planned), windows=1)
    everybody, pairs = np.ones(6, dtype=bool), np.ones((6, 6), dtype=bool)

    fmr, fnmr = tally(trials).curves(np.ones((1, 6)), everybody, pairs)

    own, others = trials.select(everybody, pairs)
    assert equal_errors(fmr, fnmr)[0] == pytest.approx(equal_error(own, others).rate, abs=0.002)
    wanted = fnmr_at_fmr(own, others, fmr=0.01).fnmr
    assert fnmr_where(fmr, fnmr, at_most=0.01)[0] == pytest.approx(wanted, abs=0.01)


def test_what_is_counted_lies_strictly_below_the_threshold() -> None:
    rng = np.random.default_rng(2)
    trials = meet(lambda n: rng.uniform(0.2, 0.8, n).round(1), lambda n: rng.random(n).round(1))
    trials.distances[3, 0] = np.nan

    counted = tally(trials)

    for place, threshold in enumerate(choose_thresholds(trials)):
        for user, wearer in np.ndindex(PEOPLE, PEOPLE):
            theirs = trials.distances[trials.wearers == wearer, user]
            accepted = sum(distance < threshold for distance in theirs)
            found = counted.own[user] if user == wearer else counted.others[user, wearer]
            assert found[place] == accepted
    assert (counted.own_trials == 50).all()


def test_a_person_drawn_twice_counts_twice(make_gallery: Callable[..., Gallery]) -> None:
    gallery = make_gallery([6, 6], [6, 6], [6, 6], scatter=0.8)
    planned = plan_cross_session(gallery)
    trials = try_all(gallery, planned, enroll_all(gallery, planned), windows=1)
    times = [2, 1, 0]

    fmr, fnmr = tally(trials).curves(
        np.array([times], dtype=float), np.ones(3, dtype=bool), np.ones((3, 3), dtype=bool)
    )

    copies = [person for person, count in enumerate(times) for _ in range(count)]
    own = [trials.distances[trials.own[:, u], u] for u in copies]
    others = [trials.distances[trials.wearers == w, u] for u in copies for w in copies if u != w]
    expected = equal_error(np.concatenate(own), np.concatenate(others)).rate
    assert equal_errors(fmr, fnmr)[0] == pytest.approx(expected)


def test_errors_at_the_enrolled_threshold_are_those_of_each_template() -> None:
    rng = np.random.default_rng(6)
    trials = meet(lambda n: rng.normal(0.6, 0.1, n), lambda n: rng.normal(0.8, 0.1, n))
    thresholds = np.array([0.5, 0.7, 0.9, np.nan])
    draws = draw_people(PEOPLE, rounds=50, seed=0)

    found = score(trials, take_part(*[{}] * PEOPLE), draws=draws, thresholds=thresholds)

    pairs = list(np.ndindex(trials.distances.shape))
    accepted = {at: trials.distances[at] < thresholds[at[1]] for at in pairs}
    assert found.far_enrolled is not None
    assert found.frr_enrolled is not None
    assert found.far_enrolled.value == pytest.approx(
        np.mean([accepted[at] for at in pairs if trials.others[at]]), abs=1e-6
    )
    assert found.frr_enrolled.value == pytest.approx(
        np.mean([not accepted[at] for at in pairs if trials.own[at]]), abs=1e-6
    )


def test_groups_are_told_apart_where_the_data_tells() -> None:
    rng = np.random.default_rng(3)
    trials = meet(lambda n: rng.normal(0.5, 0.1, n), lambda n: rng.normal(0.9, 0.1, n))
    people = take_part(
        {"sex": "Female", "age": "21", "race": "None"},
        {"sex": "Female", "age": "44", "race": "White"},
        {"sex": "Male", "age": "22"},
        {"age": "who knows"},
    )

    found = score_plainly(trials, people)

    parts = {(one.part.kind, one.part.name): one.part.people for one in found.parts}
    assert parts == {("device", "same"): 4, ("sex", "Female"): 2, ("age", "under 30"): 2}


def test_strangers_with_the_same_device_are_judged_apart() -> None:
    trials = meet(lambda n: np.linspace(0.1, 0.4, n), lambda n: np.full(n, 0.9))
    distances = trials.distances.copy()
    distances[trials.wearers == 1, 0] = 0.05  # whose phone is the same, and who is let in
    confused = Trials(
        windows=1,
        distances=distances,
        wearers=trials.wearers,
        owners=trials.owners,
        own=trials.own,
        others=trials.others,
    )
    people = take_part({}, {}) + take_part({}, device="another") + take_part({}, device="a third")

    found = score_plainly(confused, people)

    errors = {one.part.name: one for one in found.parts}
    assert (errors["same"].part.people, errors["another"].part.people) == (2, 4)
    assert errors["another"].equal_error.value == 0.0
    assert errors["same"].equal_error.value > 0.15
    assert errors["same"].fmr > errors["another"].fmr
