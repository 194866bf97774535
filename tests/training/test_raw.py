"""The file for raw acceleration says what the pipeline and the embedder say."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from acclock.denoising.bandpass import bandpass
from acclock.denoising.quality import judge
from acclock.embedding.card import Card
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.config import CnnConfig, WindowShape
from acclock.embedding.networks.registry import build
from acclock.errors import ModelError
from acclock.pipeline import Preparation, prepare
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.contexts import cut_context
from acclock.training.export import export
from acclock.training.filtering import BandPass
from acclock.training.leveling import LeveledModel, level
from acclock.training.raw import QUALITIES
from acclock.training.raw_export import export_raw, run_raw
from acclock.values import Recording

CONFIG = CnnConfig(channels=8)
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
def model() -> LeveledModel:
    plain = build("cnn", shape=WindowShape(axes=3), people=2, seed=3, config=CONFIG)
    return LeveledModel.of(plain).eval()


@pytest.fixture(scope="module")
def raw(model: LeveledModel) -> bytes:
    return export_raw(model, CARD)


@pytest.fixture(scope="module")
def worn() -> Recording:
    return simulate(draw_person(2), Scene(duration_s=40.0)).recording


@pytest.mark.parametrize(
    ("rate_hz", "count"), [(100.0, 2048), (75.0, 1536), (50.0, 1024), (25.0, 512)]
)
def test_the_filter_is_that_of_the_pipeline(rate_hz: float, count: int) -> None:
    signals = 9.8 + np.random.default_rng(1).normal(size=(2, 3, count)).cumsum(axis=-1) / 10

    filtered = BandPass(count=count, rate_hz=rate_hz, low_hz=0.8, high_hz=40.0)(
        torch.from_numpy(signals.astype(np.float32))
    )

    expected = bandpass(signals, rate_hz=rate_hz, low_hz=0.8, high_hz=40.0)
    np.testing.assert_allclose(filtered.numpy(), expected, atol=5e-5)


def test_raw_acceleration_gives_the_embeddings_of_the_live_stream(
    model: LeveledModel, raw: bytes, worn: Recording
) -> None:
    preparation = Preparation(name="bandpass")
    streamed = [one for one in prepare(worn, preparation, step_s=4.0) if one.end_s > 20.48]
    ends = [round(one.end_s * 100.0) for one in streamed]

    embeddings, _ = run_raw(raw, np.stack([cut_context(worn, end, 2048)[0] for end in ends]))

    expected = Embedder(export(model, CARD)).embed(np.stack([one.samples for one in streamed]))
    np.testing.assert_allclose(embeddings, expected, atol=1e-4)


def test_the_qualities_are_those_of_the_pipeline(raw: bytes, worn: Recording) -> None:
    contexts = np.stack([cut_context(worn, end, 2048)[0] for end in (2048, 3000, 4000)])
    contexts[2, 1, -100:] = 19.6  # at the limit of the sensor

    _, qualities = run_raw(raw, contexts)

    config = Preparation(name="bandpass").config
    for found, context in zip(qualities, contexts, strict=True):
        judged = judge(context, np.ones(2048, dtype=bool), fresh=2048, config=config)
        told = dict(zip(QUALITIES, found, strict=True))
        assert told["beat_to_noise_db"] == pytest.approx(judged.beat_to_noise_db, abs=0.1)
        assert told["fluctuation"] == pytest.approx(judged.fluctuation, rel=0.05)
        assert told["saturated_share"] == pytest.approx(judged.saturated_share, abs=1e-6)
        beats = bandpass(context, rate_hz=100.0)[:, -400:]
        assert told["rms"] == pytest.approx(beats.std(axis=-1).max(), rel=1e-3)


def test_the_batch_may_have_any_size(raw: bytes, worn: Recording) -> None:
    contexts = np.stack([cut_context(worn, end, 2048)[0] for end in range(2048, 4000, 400)])

    together, _ = run_raw(raw, contexts)
    alone = np.concatenate([run_raw(raw, contexts[n : n + 1])[0] for n in range(len(contexts))])

    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize("name", ["two-stage", "paper"])
def test_what_goes_sample_by_sample_cannot_be_exported_whole(
    model: LeveledModel, name: str
) -> None:
    with pytest.raises(ModelError, match="needs the preparation 'bandpass'"):
        export_raw(model, replace(CARD, preparation=name))


def test_a_file_for_raw_acceleration_is_not_taken_for_one_for_windows(raw: bytes) -> None:
    with pytest.raises(ModelError, match="no card"):
        Embedder(raw)


def test_leveling_ignores_strength_and_keeps_the_axes_and_silence() -> None:
    windows = torch.randn(4, 3, 50, generator=torch.Generator().manual_seed(1))

    torch.testing.assert_close(level(0.01 * windows), level(windows))
    torch.testing.assert_close(level(windows).square().mean(dim=(1, 2)), torch.ones(4))
    assert not level(torch.zeros(1, 3, 50)).any()


def test_the_exported_model_levels_as_well(model: LeveledModel) -> None:
    embedder = Embedder(export(model, CARD))
    windows = np.random.default_rng(5).normal(size=(3, 3, 400))

    np.testing.assert_allclose(embedder.embed(windows), embedder.embed(0.02 * windows), atol=1e-5)
