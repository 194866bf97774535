"""The file for raw acceleration says what the pipeline and the embedder say."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from acclock.denoising.bandpass import bandpass
from acclock.denoising.quality import judge
from acclock.embedding.card import Card
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.config import CnnConfig, WindowShape
from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ConfigError, ModelError
from acclock.pipeline import Preparation, PreparationName, make_windows, prepare
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.batches import cut_context
from acclock.training.export import embed_eagerly, export
from acclock.training.raw.export import RawRunner, export_raw
from acclock.training.raw.preparations import QUALITIES
from acclock.values import Recording

CONFIG = CnnConfig(channels=8)
WITH_RHYTHM = 3
"""A simulated person whose heart passes the event detector at least once in these 40 s."""
CARD = Card(
    name="small",
    version="1",
    network="cnn",
    config=asdict(CONFIG),
    rate_hz=100.0,
    axes=3,
    window_length=400,
    embedding_width=128,
    preparation="bandpass",
    denoiser="",
    training_data=(),
    people=("a", "b"),
    license="Apache-2.0",
)


@pytest.fixture(scope="module")
def model() -> EmbeddingModel:
    return build("cnn", shape=WindowShape(axes=3), people=2, seed=3, config=CONFIG).eval()


@pytest.fixture(scope="module")
def raw(model: EmbeddingModel) -> bytes:
    return export_raw(model, CARD)


@pytest.fixture(scope="module")
def worn() -> Recording:
    return simulate(draw_person(2), Scene(duration_s=40.0)).recording


def test_raw_acceleration_gives_the_embeddings_of_the_live_stream(
    model: EmbeddingModel, raw: bytes, worn: Recording
) -> None:
    preparation = Preparation(name="bandpass")
    streamed = [one for one in prepare(worn, preparation, step_s=4.0) if one.end_s > 20.48]
    ends = [round(one.end_s * 100.0) for one in streamed]

    contexts = np.stack([cut_context(worn, end, 2048)[0] for end in ends])
    embeddings = RawRunner(raw).ask(contexts).embeddings

    expected = Embedder(export(model, CARD)).embed(np.stack([one.samples for one in streamed]))
    np.testing.assert_allclose(embeddings, expected, atol=1e-4)


def test_the_qualities_are_those_of_the_pipeline(raw: bytes, worn: Recording) -> None:
    contexts = np.stack([cut_context(worn, end, 2048)[0] for end in (2048, 3000, 4000)])
    contexts[2, 1, -100:] = 19.6  # at the limit of the sensor

    qualities = RawRunner(raw).ask(contexts).qualities

    config = Preparation(name="bandpass").config
    for found, context in zip(qualities, contexts, strict=True):
        judged = judge(context, np.ones(2048, dtype=bool), fresh=2048, config=config)
        told = dict(zip(QUALITIES, found, strict=True))
        assert told["beat_to_noise_db"] == pytest.approx(judged.beat_to_noise_db, abs=1e-2)
        assert told["fluctuation"] == pytest.approx(judged.fluctuation, rel=1e-3)
        assert told["saturated_share"] == pytest.approx(judged.saturated_share, abs=1e-6)
        beats = bandpass(context, rate_hz=100.0)[:, -400:]
        assert told["rms"] == pytest.approx(beats.std(axis=-1).max(), rel=1e-3)


def test_the_batch_may_have_any_size(raw: bytes, worn: Recording) -> None:
    contexts = np.stack([cut_context(worn, end, 2048)[0] for end in range(2048, 4000, 400)])

    runner = RawRunner(raw)

    together = runner.ask(contexts).embeddings
    alone = [runner.ask(contexts[n : n + 1]).embeddings[0] for n in range(len(contexts))]

    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two-stage", "paper"])
def test_a_file_remembers_from_window_to_window_as_the_pipeline_does(
    model: EmbeddingModel, name: PreparationName
) -> None:
    card, preparation = replace(CARD, preparation=name), Preparation(name=name)
    worn = simulate(draw_person(WITH_RHYTHM), Scene(duration_s=40.0)).recording
    samples = worn.samples.astype(np.float32).astype(np.float64)
    runner = RawRunner(export_raw(model, card))

    references, known, told, expected = None, None, [], []
    for end in range(2048, 4000, 100):
        context = samples[np.newaxis, :, end - 2048 : end]
        answer = runner.ask(context, references)
        windows, known = make_windows(context, preparation, known)
        references = answer.references
        told.append(answer.embeddings[0])
        expected.append(embed_eagerly(model, windows.astype(np.float32))[0])

    assert known is not None
    assert known.known.any()
    np.testing.assert_allclose(told, expected, atol=1e-4)


def test_an_unknown_preparation_is_refused_in_a_sentence(model: EmbeddingModel) -> None:
    with pytest.raises(ConfigError, match="a preparation is one of"):
        export_raw(model, replace(CARD, preparation="magic"))


def test_a_file_for_raw_acceleration_is_not_taken_for_one_for_windows(raw: bytes) -> None:
    with pytest.raises(ModelError, match="no card"):
        Embedder(raw)


def test_the_exported_model_levels_as_well(model: EmbeddingModel) -> None:
    embedder = Embedder(export(model, CARD))
    windows = np.random.default_rng(5).normal(size=(3, 3, 400))

    np.testing.assert_allclose(embedder.embed(windows), embedder.embed(0.02 * windows), atol=1e-5)
