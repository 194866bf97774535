"""From a trained model to files that run without torch, and what is refused on the way."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from acclock.embedding.card import Card, hash_person
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.config import EncoderConfig, HIDNetConfig, TcnConfig, WindowShape
from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.checkpoint import pack, unpack
from acclock.training.export import check_parity, embed_eagerly, export
from acclock.training.exports import compare_pairs, halve, measure_loss, quantize

LENGTH = 100
CONFIG = HIDNetConfig(
    encoder=EncoderConfig(model_width=32, embedding_width=64), branch=TcnConfig(levels=3)
)


@pytest.fixture(scope="module")
def model() -> EmbeddingModel:
    """HIDNet on one axis, after a few steps, in the mode in which training leaves it."""
    model = build("hidnet", shape=WindowShape(length=LENGTH), people=4, seed=1, config=CONFIG)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(3):
        outputs = model.network.outputs(torch.from_numpy(draw_windows(16)), reversal=0.1)
        outputs.identity_logits.square().sum().backward()
        optimizer.step()
    return model.train()


@pytest.fixture(scope="module")
def card(model: EmbeddingModel) -> Card:
    return Card(
        name="small",
        version="1",
        network="hidnet",
        config=asdict(CONFIG),
        rate_hz=25.0,
        axes=1,
        window_length=LENGTH,
        embedding_width=model.embedding_width,
        preparation="bandpass",
        denoiser="0123",
        training_data=("noise (CC0-1.0)",),
        people=tuple(hash_person(name) for name in "abcd"),
        license="Apache-2.0",
    )


@pytest.fixture(scope="module")
def exported(model: EmbeddingModel, card: Card) -> bytes:
    return export(model, card)


def draw_windows(count: int, seed: int = 3) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((count, 1, LENGTH), dtype=np.float32)


@pytest.mark.parametrize("count", [1, 2, 7, 256])
def test_the_file_embeds_like_the_model_in_evaluation(
    count: int, model: EmbeddingModel, exported: bytes
) -> None:
    windows = draw_windows(count)

    embeddings = Embedder(exported).embed(windows)

    assert model.training  # exporting has not switched it
    expected = embed_eagerly(deepcopy(model).eval(), windows)
    np.testing.assert_allclose(embeddings, expected, atol=1e-6)


def test_the_file_carries_its_card_and_nothing_of_whoever_made_it(
    card: Card, exported: bytes
) -> None:
    assert Embedder(exported).card == card
    assert b".py" not in exported
    assert b"forward" not in exported


def test_the_file_holds_only_what_embedding_needs(model: EmbeddingModel, exported: bytes) -> None:
    network = model.network
    unused = sum(
        parameter.numel()
        for name, parameter in network.named_parameters()
        if name.startswith(("read_nuisance", "name_person", "betray_person", "decode"))
    )
    needed = sum(parameter.numel() for parameter in model.parameters()) - unused

    assert 4 * needed < len(exported) < 4 * needed + 30_000


def test_a_file_that_differs_from_its_model_is_refused(
    model: EmbeddingModel, exported: bytes
) -> None:
    still = deepcopy(model).eval()
    check_parity(still, exported, draw_windows(10))
    assert still.head is not None
    with torch.no_grad():
        still.head.embed.weight[0, 0] += 0.01

    with pytest.raises(ModelError, match=r"differs from the trained one by .*; this needs less"):
        check_parity(still, exported, draw_windows(10))


def test_a_file_is_refused_when_the_windows_prove_nothing(
    model: EmbeddingModel, exported: bytes
) -> None:
    windows = np.full((10, 1, LENGTH), np.nan, dtype=np.float32)

    with pytest.raises(ModelError, match="differs from the trained one by nan"):
        check_parity(deepcopy(model).eval(), exported, windows)


@pytest.mark.parametrize(
    ("convert", "precision", "share", "least"),
    [(halve, "float16", 0.65, 0.999), (quantize, "int8", 0.5, 0.99)],
)
def test_a_variant_is_smaller_and_nearly_the_same(
    convert: Callable[[bytes], bytes], precision: str, share: float, least: float, exported: bytes
) -> None:
    variant = convert(exported)

    loss = measure_loss(exported, variant, windows=draw_windows(300))

    assert Embedder(variant).card.precision == precision
    assert loss.bytes_after == len(variant) < share * loss.bytes_before
    assert least < loss.least_cosine <= loss.mean_cosine <= 1.0 + 1e-12
    assert loss.before is loss.after is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_window_does_not_spoil_its_neighbors_in_an_int8_batch(
    bad: float, exported: bytes
) -> None:
    windows = draw_windows(5)
    expected = Embedder(exported).embed(windows)
    windows[2, 0, 7] = bad

    embeddings = Embedder(quantize(exported)).embed(windows)

    assert np.isnan(embeddings).any(axis=1).tolist() == [False, False, True, False, False]
    assert np.nanmin((embeddings * expected).sum(axis=1)) > 0.99


def test_a_variant_tells_what_it_does_to_verification(exported: bytes) -> None:
    people = [f"person {n % 5}" for n in range(60)]
    beats = np.random.default_rng(1).standard_normal((5, 1, LENGTH), dtype=np.float32)
    windows = beats[np.arange(60) % 5] + 0.3 * draw_windows(60)

    loss = measure_loss(exported, quantize(exported), windows=windows, people=people)

    assert loss.before is not None
    assert loss.after is not None
    assert loss.before.rate < 0.4
    assert loss.after.rate == pytest.approx(loss.before.rate, abs=0.02)


def test_pairs_are_compared_as_a_plain_loop_compares_them() -> None:
    embeddings = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-1.0, 0.0]])

    found = compare_pairs(embeddings, ["a", "a", "b", "b"])

    # Own pairs: 0.632 and 1.414; others: 1.414, 2, 0.894, 1.897.
    assert found.threshold == pytest.approx(1.414, abs=1e-3)
    assert (found.far, found.frr) == (0.25, 0.5)
    with pytest.raises(ModelError, match="4 windows and 1 names"):
        compare_pairs(embeddings, ["a"])


def test_packed_weights_come_back_as_the_same_model(model: EmbeddingModel, card: Card) -> None:
    back, told = unpack(pack(model, card))

    assert told == card
    windows = draw_windows(5)
    expected = embed_eagerly(deepcopy(model).eval(), windows)
    np.testing.assert_array_equal(embed_eagerly(back.eval(), windows), expected)


@pytest.mark.parametrize("keep", [0, 4, 100, -1, -5000])
def test_truncated_weights_are_refused(keep: int, model: EmbeddingModel, card: Card) -> None:
    with pytest.raises(ModelError):
        unpack(pack(model, card)[:keep])


def test_weights_that_do_not_fit_their_card_are_refused(model: EmbeddingModel, card: Card) -> None:
    with pytest.raises(ModelError, match="names 4 people, and its card says it learned from 1"):
        pack(model, replace(card, people=card.people[:1]))
    with pytest.raises(ModelError, match="do not fit the network"):
        unpack(pack(model, replace(card, embedding_width=64)))
