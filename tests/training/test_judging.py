from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.embedding.networks.config import WindowShape
from acclock.embedding.networks.registry import build
from acclock.errors import AccLockError, TooFewError
from acclock.matching.rates import equal_error
from acclock.training.grid import Grid
from acclock.training.judging import DatasetTrials, judge_model, pool, try_all
from acclock.training.subjects import Subject, SubjectSession, check_subjects, deal
from acclock.values import Recording

NOTHING = Recording(samples=np.zeros((3, 1)), rate_hz=100.0)


def make_subject(name: str, *counts: int, source: str = "here") -> Subject:
    chance = np.random.default_rng(len(name) + sum(counts))
    grids = (
        Grid(
            windows=chance.standard_normal((count, 3, 40), dtype=np.float32), ends=np.arange(count)
        )
        for count in counts
    )
    return Subject(
        name=name,
        source=source,
        sessions=tuple(SubjectSession(recording=NOTHING, grid=grid) for grid in grids),
    )


def draw_trials(people: int, seed: int) -> DatasetTrials:
    chance = np.random.default_rng(seed)
    return DatasetTrials(
        source="here",
        distances={
            (user, wearer): chance.normal(0.5 + 0.4 * (user != wearer), 0.2, 20)
            for user, wearer in product(range(people), repeat=2)
        },
    )


def test_the_error_is_that_of_all_pairs() -> None:
    trials = draw_trials(5, seed=1)

    own = np.concatenate([found for (u, w), found in trials.distances.items() if u == w])
    others = np.concatenate([found for (u, w), found in trials.distances.items() if u != w])

    assert trials.error() == equal_error(own, others).rate
    low, high = trials.interval(rounds=50)
    assert low <= trials.error() <= high
    assert trials.interval(rounds=50) == (low, high)


def test_more_windows_err_less() -> None:
    trials = draw_trials(8, seed=2)

    assert trials.error(windows=5) < trials.error()
    assert trials.error(windows=100) <= trials.error(windows=5)


def test_folds_are_pooled_without_trying_one_against_the_other() -> None:
    folds = [[draw_trials(3, seed=3)], [draw_trials(4, seed=4)]]

    (pooled,) = pool(folds)

    assert pooled.people == 7
    assert len(pooled.distances) == 9 + 16
    np.testing.assert_array_equal(pooled.distances[4, 5], folds[1][0].distances[1, 2])


def test_earlier_sessions_enroll_and_data_sets_are_never_mixed() -> None:
    model = build("cnn", shape=WindowShape(axes=3, length=40), people=2, seed=0)
    subjects = [
        make_subject("a", 8, 9, 7),
        make_subject("b", 20),
        make_subject("c", 3, 3),
        make_subject("d", 6, 6, source="there"),
        make_subject("e", 6, 5, source="there"),
    ]

    here, there = try_all(model.eval(), subjects, axes=3)

    assert (here.source, here.people) == ("here", 2)
    assert {pair: len(found) for pair, found in here.distances.items()} == {
        (0, 0): 16,
        (1, 0): 16,
        (0, 1): 7,
        (1, 1): 7,
    }
    assert (there.source, there.people) == ("there", 2)
    with pytest.raises(AccLockError, match="nobody is left"):
        judge_model([])


def test_too_few_people_are_refused_with_how_many_are_needed() -> None:
    subjects = [make_subject(name, 12) for name in "abcde"] + [make_subject("f", 11)]

    with pytest.raises(TooFewError, match="there are 5 people with at least 12 usable windows"):
        check_subjects(subjects, folds=3)
    assert len(check_subjects(subjects, folds=2)) == 5


@given(here=st.integers(2, 20), there=st.integers(0, 20), seed=st.integers(0, 99))
def test_everybody_is_in_one_fold_and_folds_are_even(here: int, there: int, seed: int) -> None:
    subjects = [make_subject(f"h{n}", 1) for n in range(here)]
    subjects += [make_subject(f"t{n}", 1, source="there") for n in range(there)]

    dealt = deal(subjects, folds=3, seed=seed)

    assert sorted(dealt) == sorted(subject.name for subject in subjects)
    for part in ("h", "t"):
        sizes = np.bincount([fold for name, fold in dealt.items() if name[0] == part], minlength=3)
        assert np.ptp(sizes) <= 1
