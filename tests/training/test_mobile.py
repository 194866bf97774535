"""A program for ExecuTorch embeds as the model does. Skipped without the extra."""

from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from typing import NoReturn

import numpy as np

from acclock.embedding.card import Card
from acclock.embedding.networks.config import CnnConfig, WindowShape
from acclock.embedding.networks.registry import build
from acclock.training.export import embed_eagerly
from acclock.training.exports import export_mobile, read_mobile_card, run_mobile


def test_a_program_embeds_any_number_of_windows_and_carries_its_card(
    absent: Callable[[str], NoReturn],
) -> None:
    if find_spec("executorch") is None:
        absent("the extra 'executorch' is not installed")
    config = CnnConfig(channels=4)
    shape = WindowShape(axes=3, length=100)
    model = build("cnn", shape=shape, people=2, seed=3, config=config, embedding_width=16)
    card = Card(
        name="small",
        version="1",
        network="cnn",
        config=asdict(config),
        rate_hz=25.0,
        axes=3,
        window_length=100,
        embedding_width=16,
        preparation="bandpass",
        denoiser="",
        training_data=(),
        people=("a", "b"),
        license="Apache-2.0",
    )

    program = export_mobile(model, card)

    assert read_mobile_card(program) == card
    for count in (1, 7):
        windows = np.random.default_rng(count).standard_normal((count, 3, 100), dtype=np.float32)
        expected = embed_eagerly(model.eval(), windows)
        np.testing.assert_allclose(run_mobile(program, windows), expected, atol=1e-5)
