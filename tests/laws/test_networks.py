"""What every network keeps, whatever is inside."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from acclock.embedding.card import Card, hash_person
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.config import (
    CnnConfig,
    ConformerConfig,
    EncoderConfig,
    HIDNetConfig,
    LstmConfig,
    NetworkConfig,
    ProjectionConfig,
    ResNetConfig,
    TcnConfig,
    TwoBranchConfig,
    ViewsConfig,
    WindowShape,
)
from acclock.embedding.networks.registry import DESIGNS, build, find_design
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.training.export import embed_eagerly, export
from acclock.training.losses import LossConfig, drop_ablated, total_loss

PEOPLE = 5
LENGTH = 40
# Small enough to be built, trained and exported in a moment; the kinds of layers are all there.
SMALL: dict[type[NetworkConfig], NetworkConfig] = {
    HIDNetConfig: HIDNetConfig(
        encoder=EncoderConfig(patch_s=1.0, model_width=16, heads=2, embedding_width=32),
        branch=TcnConfig(channels=8, levels=2),
        axis_width=8,
        decoder_width=16,
    ),
    CnnConfig: CnnConfig(channels=4),
    ResNetConfig: ResNetConfig(width=2),
    ConformerConfig: ConformerConfig(model_width=16, heads=2, blocks=1, kernel=5),
    LstmConfig: LstmConfig(hidden_width=8),
    ProjectionConfig: ProjectionConfig(width=8),
    TwoBranchConfig: TwoBranchConfig(channels=4, pitch_channels=8),
    ViewsConfig: ViewsConfig(bands=4, rhythm_bands=2),
}
CASES = [(name, axes) for name in DESIGNS for axes in (1, 3)]
# V1 to V3 embed with the very network of HIDNet; exporting them again would tell nothing new.
EXPORTED = [
    ("hidnet", 3),
    ("v4", 3),
    ("cnn", 3),
    ("conformer", 3),
    ("two-branch", 3),
    ("views", 3),
    *(
        pytest.param(name, axes, marks=pytest.mark.slow)
        for name, axes in [("hidnet", 1), ("v5", 1), ("resnet50", 3), ("lstm", 3)]
    ),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Such small networks lose more by handing work around than by doing it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def build_small(name: str, axes: int, *, length: int = LENGTH, seed: int = 1) -> EmbeddingModel:
    return build(
        name,
        shape=WindowShape(axes=axes, length=length),
        people=PEOPLE,
        seed=seed,
        config=SMALL[type(find_design(name).config)],
        embedding_width=6,
    )


def draw_windows(count: int, axes: int, *, length: int = LENGTH, seed: int = 2) -> Tensor:
    return torch.randn(count, axes, length, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("length", [400, 300, 200, 100])
@pytest.mark.parametrize(("name", "axes"), CASES)
def test_windows_become_unit_embeddings(name: str, axes: int, length: int) -> None:
    model = build_small(name, axes, length=length).eval()

    with torch.inference_mode():
        embeddings = model(draw_windows(3, axes, length=length))
        features = model.network(draw_windows(3, axes, length=length))

    assert embeddings.shape == (3, model.embedding_width)
    assert features.shape == (3, model.network.feature_width)
    torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(3))


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_the_seed_alone_decides(name: str, axes: int) -> None:
    torch.manual_seed(0)
    first = build_small(name, axes).eval()
    torch.manual_seed(99)
    second = build_small(name, axes).eval()
    other = build_small(name, axes, seed=3).eval()
    windows = draw_windows(4, axes)

    with torch.inference_mode():
        assert torch.equal(first(windows), first(windows))
        assert torch.equal(first(windows), second(windows))
        assert not torch.allclose(first(windows), other(windows))


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_building_leaves_the_global_dice_alone(name: str, axes: int) -> None:
    before = torch.get_rng_state()

    build_small(name, axes)

    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_a_batch_is_its_windows_one_by_one(name: str, axes: int) -> None:
    model = build_small(name, axes).eval()
    windows = draw_windows(6, axes)

    with torch.inference_mode():
        together = model(windows)
        alone = torch.cat([model(window.unsqueeze(0)) for window in windows])

    torch.testing.assert_close(together, alone, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_windows_are_left_as_they_were(name: str, axes: int) -> None:
    model = build_small(name, axes)
    windows = draw_windows(4, axes)
    kept = windows.clone()

    model.network.outputs(windows, reversal=1.0)
    model(windows)

    assert torch.equal(windows, kept)


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_the_loss_reaches_every_parameter_of_the_network(name: str, axes: int) -> None:
    model = build_small(name, axes).train()
    windows, people = draw_windows(16, axes), torch.arange(16) % PEOPLE
    weights = drop_ablated(LossConfig(), find_design(name))

    outputs = model.network.outputs(windows, reversal=0.5)
    total_loss(outputs, windows=windows, people=people, config=weights).total.backward()

    idle = [key for key, value in model.network.named_parameters() if not has_gradient(value)]
    assert idle == []


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_embeddings_reach_every_parameter_on_their_way(name: str, axes: int) -> None:
    model = build_small(name, axes).train()
    aside = ("name_person", "betray_person", "read_nuisance", "decode")

    model(draw_windows(16, axes)).square().mul(torch.arange(model.embedding_width)).sum().backward()

    idle = {key.split(".")[1] for key, value in model.named_parameters() if not has_gradient(value)}
    assert idle <= set(aside)


def has_gradient(parameter: Tensor) -> bool:
    return parameter.grad is not None and bool(parameter.grad.abs().max() > 0)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_network_learns_to_name_people_by_their_rhythm(name: str) -> None:
    model = build_small(name, 1).train()
    people = torch.arange(40) % PEOPLE
    times = torch.linspace(0, 1, LENGTH)
    phases = 0.3 * draw_windows(40, 1, length=1)[:, :, 0]
    rhythm = torch.sin(2 * torch.pi * (2 + 3 * people[:, None]) * times + phases)
    optimizer = torch.optim.Adam(model.network.parameters(), lr=1e-2)

    losses = []
    for _ in range(60):
        outputs = model.network.outputs(rhythm[:, None], reversal=0.1)
        terms = total_loss(outputs, windows=rhythm[:, None], people=people, config=LossConfig())
        optimizer.zero_grad()
        terms.total.backward()
        optimizer.step()
        losses.append(terms.identity.item())

    assert losses[-1] < 0.5 * losses[0]


@cache
def exported(name: str, axes: int) -> tuple[EmbeddingModel, Embedder]:
    model = build_small(name, axes).eval()
    for module in model.modules():  # running means as after some training, not as before
        if isinstance(module, torch.nn.BatchNorm1d):
            module.running_mean = torch.linspace(-0.1, 0.1, module.num_features)
            module.running_var = torch.linspace(0.5, 1.5, module.num_features)
    card = Card(
        name="small",
        version="0",
        network=name,
        config={},
        rate_hz=100.0,
        axes=axes,
        window_length=LENGTH,
        embedding_width=model.embedding_width,
        preparation="none",
        denoiser="none",
        training_data=(),
        people=tuple(hash_person(str(person)) for person in range(PEOPLE)),
        license="Apache-2.0",
    )
    return model, Embedder(export(model, card))


@pytest.mark.parametrize("count", [1, 2, 7, 256])
@pytest.mark.parametrize(("name", "axes"), EXPORTED)
def test_what_is_exported_embeds_like_what_was_trained(name: str, axes: int, count: int) -> None:
    model, embedder = exported(name, axes)
    windows = draw_windows(count, axes).numpy()

    embeddings = embedder.embed(windows)

    np.testing.assert_allclose(embeddings, embed_eagerly(model, windows), atol=1e-6)
