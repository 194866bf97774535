"""The embedder on a model whose every number is known."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acclock.embedding.card import Card
from acclock.embedding.embedder import Embedder
from acclock.errors import ConfigError, ModelError, SignalError
from acclock.matching.rates import far
from acclock.values import FloatArray

HandMade = Callable[..., bytes]


def draw_windows(count: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).normal(0, 1, (count, 3, 10))


def naive_embedding(windows: FloatArray, projection: FloatArray) -> FloatArray:
    mapped = np.maximum(windows.reshape(len(windows), 30) @ projection, 0)
    return mapped / np.linalg.norm(mapped, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 700])
def test_windows_become_what_the_formula_says(
    count: int, hand_made: HandMade, projection: FloatArray
) -> None:
    windows = draw_windows(count)

    embeddings = Embedder(hand_made()).embed(windows)

    assert embeddings.shape == (count, 4)
    np.testing.assert_allclose(embeddings, naive_embedding(windows, projection), atol=1e-5)


def test_embeddings_have_unit_length_to_the_last_digit(hand_made: HandMade) -> None:
    embeddings = Embedder(hand_made()).embed(draw_windows(100))

    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1.0, atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_a_window_that_is_not_finite_is_embedded_nowhere(bad: float, hand_made: HandMade) -> None:
    windows = draw_windows(5)
    windows[2, 1, 7] = bad
    clean = np.delete(windows, 2, axis=0)
    embedder = Embedder(hand_made(bias=1.0))  # even of silence it makes something

    embeddings = embedder.embed(windows)

    assert np.isnan(embeddings[2]).all()
    np.testing.assert_array_equal(np.delete(embeddings, 2, axis=0), embedder.embed(clean))
    distance = np.linalg.norm(embeddings[2] - embeddings[0])
    assert far(distance, 1e9) == 0


def test_a_window_of_which_nothing_is_left_is_embedded_nowhere(hand_made: HandMade) -> None:
    embeddings = Embedder(hand_made()).embed(np.zeros((1, 3, 10)))

    assert np.isnan(embeddings).all()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_a_batch_is_its_windows_one_by_one(hand_made: HandMade, count: int, seed: int) -> None:
    windows = draw_windows(count, seed)
    embedder = Embedder(hand_made())

    alone = np.concatenate([embedder.embed(windows[n : n + 1]) for n in range(count)])

    np.testing.assert_allclose(embedder.embed(windows), alone, atol=1e-6)


def test_single_precision_and_strided_windows_give_the_same(hand_made: HandMade) -> None:
    windows = draw_windows(8).astype(np.float32)
    embedder = Embedder(hand_made())
    expected = embedder.embed(windows)

    np.testing.assert_array_equal(embedder.embed(windows.astype(np.float64)), expected)
    strided = np.asfortranarray(np.repeat(windows, 2, axis=2))[:, :, ::2]
    np.testing.assert_array_equal(embedder.embed(strided), expected)


def test_threads_share_one_embedder(hand_made: HandMade) -> None:
    embedder = Embedder(hand_made())
    batches = [draw_windows(9, seed) for seed in range(40)]
    expected = [embedder.embed(batch) for batch in batches]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(embedder.embed, batches))

    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(3, 10), (2, 1, 10), (2, 3, 11), (2, 10, 3), (1, 2, 3, 10)])
def test_windows_of_another_shape_are_refused(shape: tuple[int, ...], hand_made: HandMade) -> None:
    with pytest.raises(SignalError, match=r"reads windows of 3 x 10 samples .*; these have shape"):
        Embedder(hand_made()).embed(np.zeros(shape))


def test_the_card_and_the_fingerprint_say_which_model_it_is(
    hand_made: HandMade, card: Card
) -> None:
    embedder, same = Embedder(hand_made()), Embedder(hand_made())
    other = Embedder(hand_made(card.to_json().replace("by hand", "by foot")))

    assert embedder.card == card
    assert embedder.fingerprint == same.fingerprint != other.fingerprint


def test_a_model_without_a_card_is_refused(hand_made: HandMade) -> None:
    with pytest.raises(ModelError, match="carries no card"):
        Embedder(hand_made(None))


def test_a_model_whose_card_tells_another_width_is_refused(hand_made: HandMade, card: Card) -> None:
    wider = card.to_json().replace('"embedding_width": 4', '"embedding_width": 5')

    with pytest.raises(ModelError, match=r"maps windows of \[3, 10\] to \[4\]; its card says"):
        Embedder(hand_made(wider))


@pytest.mark.parametrize("keep", [0, 1, 100, -20])
def test_a_truncated_model_is_refused(keep: int, hand_made: HandMade) -> None:
    with pytest.raises(ModelError):
        Embedder(hand_made()[:keep])


def test_embedding_without_threads_is_refused(hand_made: HandMade) -> None:
    with pytest.raises(ConfigError, match="at least one thread, not 0"):
        Embedder(hand_made(), threads=0)


def test_what_only_embeds_never_loads_torch() -> None:
    program = """
import sys
import acclock.embedding.embedder, acclock.models.files, acclock.matching.rates
print(sorted({"torch", "onnx", "safetensors", "scipy", "pandas"} & set(sys.modules)))
"""

    told = subprocess.run(  # noqa: S603  # the interpreter that runs this test
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert told.stdout.strip() == "[]"
