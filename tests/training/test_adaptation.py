from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from acclock.embedding.card import Card, hash_person
from acclock.embedding.networks.config import CnnConfig, HIDNetConfig
from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ConfigError
from acclock.pipeline import Preparation, prepare_contexts
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.adaptation import AdaptConfig, Adapted, adapt_model, recipe_of
from acclock.training.batches import cut_context
from acclock.training.checkpoint import pack, unpack
from acclock.training.grid import Grid, bring_to
from acclock.training.recipe import Stage
from acclock.training.subjects import Subject, SubjectSession

RATE_HZ = 25.0
PREPARATION = Preparation(name="bandpass", rate_hz=RATE_HZ)
CONFIG = AdaptConfig(stage=Stage(epochs=2, learning_rate=3e-3, batch=32), windows_per_person=8)
SIZES: dict[str, HIDNetConfig | CnnConfig] = {
    "hidnet": HIDNetConfig(),
    "cnn": CnnConfig(channels=8),
}


def draw_subject(index: int) -> Subject:
    scene = Scene(duration_s=48.0, session=0)
    recording = bring_to(simulate(draw_person(index), scene).recording, RATE_HZ)
    ends = np.arange(200, len(recording) + 1, 50)
    cuts = [cut_context(recording, int(end), 512) for end in ends]
    contexts, received = (np.stack(parts) for parts in zip(*cuts, strict=True))
    windows = prepare_contexts(contexts, received, PREPARATION).astype(np.float32)
    session = SubjectSession(recording=recording, grid=Grid(windows=windows, ends=ends))
    return Subject(name=f"people/{index}", source="people", sessions=(session,))


def make_card(network: str) -> Card:
    return Card(
        name="small",
        version="1",
        network=network,
        config=asdict(SIZES[network]),
        rate_hz=RATE_HZ,
        axes=3,
        window_length=100,
        embedding_width=16,
        preparation="bandpass",
        denoiser="",
        training_data=("somebody",),
        people=("a", "b", "c"),
        license="Apache-2.0",
    )


@pytest.fixture(scope="module", params=["hidnet", "cnn"])
def model(request: pytest.FixtureRequest) -> tuple[EmbeddingModel, Card]:
    card = make_card(request.param)
    recipe = recipe_of(card, CONFIG)
    built = build(
        card.network,
        shape=recipe.shape,
        people=3,
        seed=1,
        config=recipe.network_config,
        embedding_width=16,
    )
    return built.eval(), card


@pytest.fixture(scope="module")
def adapted(model: tuple[EmbeddingModel, Card]) -> Adapted:
    subjects = [draw_subject(index) for index in range(8)]
    return adapt_model(*model, subjects[:5], subjects[5:], config=CONFIG)


def test_an_adapted_model_is_written_and_read_like_any_other(adapted: Adapted) -> None:
    windows = torch.randn(5, 3, 100, generator=torch.Generator().manual_seed(2))

    again, card = unpack(pack(adapted.model, adapted.card))

    assert card == adapted.card
    torch.testing.assert_close(again(windows), adapted.model(windows))


def test_the_card_of_an_adapted_model_names_whom_it_learned_from(adapted: Adapted) -> None:
    assert len(adapted.card.people) == 3 + 5
    assert hash_person("people/0") in adapted.card.people
    assert hash_person("people/7") not in adapted.card.people
    assert adapted.card.training_data == ("somebody", "adapted to people")


def test_adaptation_is_never_worse_for_the_people_it_is_judged_by(adapted: Adapted) -> None:
    assert adapted.error_after <= adapted.error_before
    assert (adapted.best_epoch == 0) == (adapted.error_after == adapted.error_before)


def test_only_convolutions_and_attention_change(
    model: tuple[EmbeddingModel, Card], adapted: Adapted
) -> None:
    before, after = model[0].state_dict(), adapted.model.state_dict()

    changed = {
        name
        for name, weights in before.items()
        if weights.dim() and not torch.equal(weights, after[name][: len(weights)])
    }

    assert changed or adapted.best_epoch == 0
    convolutions = ("first", "second", "widen", "in_proj", "blocks")
    assert all(any(part in name for part in convolutions) for name in changed)
    assert not any(name.startswith("head") for name in changed)


def test_a_model_of_an_unknown_preparation_is_refused() -> None:
    with pytest.raises(ConfigError, match="a preparation is one of"):
        recipe_of(replace(make_card("cnn"), preparation="magic"), CONFIG)
