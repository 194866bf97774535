"""Low-rank changes: nothing at first, only where they should be, at last part of the weights."""

from dataclasses import asdict

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from acclock.embedding.networks.config import (
    ConformerConfig,
    EncoderConfig,
    HIDNetConfig,
    NetworkConfig,
    ResNetConfig,
    TcnConfig,
    WindowShape,
)
from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ConfigError
from acclock.training.adaptation import LoraConfig, adapt, merge
from acclock.training.losses import find_violating, mean_separation, triplet_loss

LENGTH = 60
PEOPLE = torch.arange(12) % 3
SMALL: dict[str, NetworkConfig | None] = {
    "hidnet": HIDNetConfig(
        encoder=EncoderConfig(patch_s=1.0, model_width=16, heads=2, embedding_width=32),
        branch=TcnConfig(channels=8, levels=2),
        axis_width=8,
    ),
    "cnn": None,
    "resnet50": ResNetConfig(width=4),
    "conformer": ConformerConfig(model_width=16, heads=2),
}


@pytest.fixture(params=SMALL)
def model(request: pytest.FixtureRequest) -> EmbeddingModel:
    """One of every network that has convolutions, as it would come out of training."""
    shape = WindowShape(axes=3, length=LENGTH)
    config = SMALL[request.param]
    return build(request.param, shape=shape, people=3, seed=1, config=config).eval()


def draw_windows(count: int = 12) -> Tensor:
    return torch.randn(count, 3, LENGTH, generator=torch.Generator().manual_seed(2))


def adapt_for_some_steps(model: EmbeddingModel, steps: int = 10) -> None:
    learning = adapt(model, LoraConfig(), seed=3)
    optimizer = torch.optim.Adam(learning, lr=0.003)
    for _ in range(steps):
        embeddings = model(draw_windows())
        loss = triplet_loss(embeddings, find_violating(embeddings, PEOPLE, margin=1.9), margin=1.9)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def measure_separation(model: EmbeddingModel) -> float:
    every_triplet = find_violating(torch.eye(12), PEOPLE, margin=1.9)
    with torch.inference_mode():
        return mean_separation(model(draw_windows()), every_triplet).item()


def test_before_the_first_step_nothing_has_changed(model: EmbeddingModel) -> None:
    before = model(draw_windows())

    adapt(model, LoraConfig(), seed=3)

    torch.testing.assert_close(model(draw_windows()), before)


@pytest.mark.paper("Sec. 7.5")
def test_adapting_parts_people_and_moves_nothing_else(model: EmbeddingModel) -> None:
    separation = measure_separation(model)
    before = {name: value.clone() for name, value in model.state_dict().items()}

    adapt_for_some_steps(model)

    assert measure_separation(model) < separation - 0.001
    after = model.state_dict()
    for name, value in before.items():
        path, _, last = name.rpartition(".")
        frozen = name if name in after else f"{path}.parametrizations.{last}.original"
        assert torch.equal(after[frozen], value), name


@pytest.mark.paper("Sec. 7.5")
def test_convolutions_and_queries_and_values_change_and_keys_do_not(
    model: EmbeddingModel,
) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}

    adapt_for_some_steps(model)
    merge(model)

    after = model.state_dict()
    changed = {name for name, value in before.items() if not torch.equal(after[name], value)}
    on_the_way = {
        name
        for name in expected_to_change(model)
        if not name.startswith("network.read_nuisance")  # no triplet asks the nuisance branch
    }
    assert changed == on_the_way
    for name in (name for name in changed if name.endswith("in_proj_weight")):
        queries, keys, values = (after[name] != before[name]).chunk(3)
        assert queries.any()
        assert values.any()
        assert not keys.any()


def expected_to_change(model: EmbeddingModel) -> set[str]:
    convolutions = {f"{n}.weight" for n, m in model.named_modules() if isinstance(m, nn.Conv1d)}
    attentions = {
        f"{n}.in_proj_weight"
        for n, m in model.named_modules()
        if isinstance(m, nn.MultiheadAttention)
    }
    return convolutions | attentions


def test_a_merged_network_embeds_like_the_adapted_one(model: EmbeddingModel) -> None:
    names = set(model.state_dict())
    adapt_for_some_steps(model)
    with torch.inference_mode():
        adapted = model(draw_windows(50))

    merge(model)

    with torch.inference_mode():
        merged = model(draw_windows(50))
    assert (merged - adapted).abs().max() < 1e-6
    assert set(model.state_dict()) == names
    assert not any(parametrize.is_parametrized(module) for module in model.modules())


def test_a_change_has_the_rank_that_was_asked_for() -> None:
    layer = nn.Conv1d(8, 16, 5, dilation=4, bias=False)
    before = layer.weight.detach().clone()
    for parameter in adapt(layer, LoraConfig(rank=2), seed=1):
        nn.init.normal_(parameter)

    merge(layer)

    change = (layer.weight.detach() - before).flatten(1)
    assert torch.linalg.matrix_rank(change, rtol=1e-4) == 2


def test_only_the_changes_may_learn(model: EmbeddingModel) -> None:
    learning = adapt(model, LoraConfig(), seed=3)

    free = {id(parameter) for parameter in model.parameters() if parameter.requires_grad}
    assert free == {id(parameter) for parameter in learning}
    assert sum(p.numel() for p in learning) < sum(p.numel() for p in model.parameters()) / 2


def test_a_network_with_nothing_to_adapt_is_refused() -> None:
    model = build("lstm", shape=WindowShape(length=LENGTH), people=3, seed=1)

    with pytest.raises(ConfigError, match="neither convolutions nor attention"):
        adapt(model, LoraConfig(), seed=1)


@pytest.mark.parametrize("wrong", [{"rank": 0}, {"scale": 0.0}, {"scale": float("nan")}])
def test_a_change_of_no_size_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        LoraConfig(**{**asdict(LoraConfig()), **wrong})
