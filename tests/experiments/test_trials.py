from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.experiments.gallery import Gallery
from acclock.experiments.trials import average, enroll_all, group, plan_cross_session, try_all

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=8)


def number_through(counts: list[int]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.repeat(np.arange(len(counts)), counts)


@given(counts=COUNTS, windows=st.integers(1, 16))
def test_groups_are_in_a_row_in_one_recording_and_share_no_window(
    counts: list[int], windows: int
) -> None:
    recordings = number_through(counts)

    groups = group(recordings, windows)

    assert (recordings[groups] == recordings[groups[:, :1]]).all()
    assert (np.diff(groups, axis=1) == 1).all()
    assert len(np.unique(groups)) == groups.size


@given(counts=COUNTS, windows=st.integers(1, 16))
def test_groups_are_those_of_a_plain_loop(counts: list[int], windows: int) -> None:
    expected, first = [], 0
    for count in counts:
        last = first + count
        while first + windows <= last:
            expected.append(list(range(first, first + windows)))
            first += windows
        first = last

    assert group(number_through(counts), windows).tolist() == expected


def test_a_group_needs_a_window() -> None:
    with pytest.raises(ConfigError, match="at least one window, not 0"):
        group(np.array([0, 0]), 0)


def test_windows_without_a_distance_are_left_out_of_the_mean() -> None:
    distances = np.array([[[0.2], [np.nan], [0.4]], [[np.nan], [np.nan], [np.nan]]])

    means = average(distances)

    np.testing.assert_allclose(means, [[0.3], [np.nan]])


def test_distances_are_those_of_a_plain_loop(make_gallery: Callable[..., Gallery]) -> None:
    gallery = make_gallery([7, 6], [9, 5, 8], [4, 11])
    plan = plan_cross_session(gallery)
    centers = enroll_all(gallery, plan)

    trials = try_all(gallery, plan, centers, windows=2)

    groups = group(gallery.recordings, 2)
    for row, rows in enumerate(groups):
        for column, center in enumerate(centers):
            expected = np.mean([np.linalg.norm(gallery.embeddings[n] - center) for n in rows])
            assert trials.distances[row, column] == pytest.approx(expected)


def test_who_cannot_be_enrolled_is_rejected_and_accepts_nobody(
    make_gallery: Callable[..., Gallery],
) -> None:
    gallery = make_gallery([5, 5], [5, 5])
    broken = gallery.embeddings.copy()
    broken[:4] = np.nan  # one usable window is left of the recording that enrolls
    gallery = Gallery(embeddings=broken, wearers=gallery.wearers, recordings=gallery.recordings)
    plan = plan_cross_session(gallery)

    trials = try_all(gallery, plan, enroll_all(gallery, plan), windows=1)

    assert np.isnan(trials.distances[:, 0]).all()
    assert np.isfinite(trials.distances[4:, 1]).all()
