import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import SignalError, TooFewError
from acclock.matching.centers import center_of, distance_to, distances_to, leave_one_out
from acclock.matching.cohort import Cohort
from acclock.values import FloatArray


def unit_rows(seed: int, count: int, width: int, scatter: float) -> FloatArray:
    rng = np.random.default_rng(seed)
    rows = np.eye(width)[0] + scatter * rng.normal(size=(count, width))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.paper("Alg. 1, lines 1-3")
@given(seed=st.integers(0, 999), count=st.integers(1, 30), width=st.integers(2, 20))
def test_a_center_is_the_direction_of_the_plain_mean(seed: int, count: int, width: int) -> None:
    rows = unit_rows(seed, count, width, 0.4)

    center = center_of(rows)

    mean = [sum(column) / count for column in rows.T.tolist()]
    length = sum(number * number for number in mean) ** 0.5
    np.testing.assert_allclose(center, [number / length for number in mean], atol=1e-12)


@pytest.mark.paper("Alg. 1, lines 4-10")
@given(seed=st.integers(0, 999), count=st.integers(1, 30), width=st.integers(2, 20))
def test_distances_are_those_of_a_plain_loop(seed: int, count: int, width: int) -> None:
    rows = unit_rows(seed, count, width, 0.8)

    distances = distances_to(rows[0], rows)

    twin = [np.sqrt(sum((a - b) ** 2 for a, b in zip(row, rows[0], strict=True))) for row in rows]
    np.testing.assert_allclose(distances, twin, atol=1e-12)


@given(seed=st.integers(0, 999), width=st.integers(2, 40), scale=st.sampled_from([1.0, 0.5, 0.0]))
def test_one_embedding_lies_as_far_as_it_does_among_many(
    seed: int, width: int, scale: float
) -> None:
    rows = unit_rows(seed, 2, width, 0.8)
    embedding = scale * rows[1]  # a part of a unit vector is none, and lies nowhere

    alone = distance_to(rows[0], embedding)

    np.testing.assert_allclose(alone, distances_to(rows[0], embedding)[0], atol=1e-12)


@pytest.mark.parametrize("nothing", [[np.nan, 1.0], [np.inf, 0.0], [1e200, 1e200], [1.0], []])
def test_what_is_not_an_embedding_lies_nowhere(nothing: list[float]) -> None:
    assert np.isnan(distance_to(np.array([1.0, 0.0]), np.array(nothing)))


@given(seed=st.integers(0, 999), count=st.integers(1, 30), width=st.integers(2, 20))
def test_strangers_lie_as_far_as_their_difference_is_long(
    seed: int, count: int, width: int
) -> None:
    rows = unit_rows(seed, count + 1, width, 0.8)
    cohort = Cohort(embeddings=rows[1:], model="m")

    np.testing.assert_allclose(
        cohort.distances_to(rows[0]), distances_to(rows[0], rows[1:]), atol=1e-7
    )


@given(seed=st.integers(0, 999), count=st.integers(2, 40), scatter=st.floats(0.01, 0.5))
def test_leaving_one_out_is_enrolling_the_others(seed: int, count: int, scatter: float) -> None:
    rows = unit_rows(seed, count, 12, scatter)

    left_out = leave_one_out(distances_to(center_of(rows), rows))

    twin = [
        distances_to(center_of(np.delete(rows, place, axis=0)), rows[place])[0]
        for place in range(count)
    ]
    np.testing.assert_allclose(left_out, twin, atol=1e-6)


@pytest.mark.parametrize(
    "nothing",
    [[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [0.5, 0.0], [2.0, 0.0], [1e200, 1e200]],
)
def test_what_is_not_a_unit_vector_has_no_distance_from_anybody(nothing: list[float]) -> None:
    for angle in np.linspace(0, 6, 20):
        center = np.array([np.cos(angle), np.sin(angle)])

        assert np.isnan(distances_to(center, nothing)).all()


@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        ([[0.0, 0.0]], "length one"),
        ([[1.0, 0.0], [-1.0, 0.0]], "no center"),
        (np.zeros((0, 4)), "0 embeddings"),
        ([1.0], "rows of numbers"),
        (np.zeros((2, 2, 2)), "rows of numbers"),
    ],
)
def test_what_has_no_center_is_refused(rows: object, refusal: str) -> None:
    with pytest.raises((SignalError, TooFewError), match=refusal):
        center_of(rows)  # type: ignore[arg-type]  # whatever someone passes


def test_embeddings_of_another_width_are_named() -> None:
    with pytest.raises(SignalError, match="have 3 numbers; this needs 2"):
        distances_to(np.array([1.0, 0.0]), [1.0, 0.0, 0.0])
