"""Names, sizes, and what is refused."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
import torch

from acclock.embedding.networks.config import (
    CnnConfig,
    ConformerConfig,
    EncoderConfig,
    HIDNetConfig,
    LstmConfig,
    ProjectionConfig,
    ResNetConfig,
    TcnConfig,
    WindowShape,
)
from acclock.embedding.networks.hidnet import HIDNet
from acclock.embedding.networks.registry import DESIGNS, build, find_design, read_config
from acclock.errors import AccLockError, ConfigError, ModelError, TooFewError

SHAPE = WindowShape()


@pytest.mark.paper("Sec. 7.3")
@pytest.mark.parametrize(
    ("name", "is_hidnet", "orthogonal", "decodes", "has_head"),
    [
        ("hidnet", True, True, True, True),
        ("v1", True, False, True, True),
        ("v2", True, True, False, True),
        ("v3", True, False, False, True),
        ("v4", False, True, False, True),
        ("v5", True, True, True, False),
    ],
)
def test_an_ablation_lacks_what_it_should(
    name: str, is_hidnet: bool, orthogonal: bool, decodes: bool, has_head: bool
) -> None:
    model = build(name, shape=SHAPE, people=3, seed=1)

    assert isinstance(model.network, HIDNet) is is_hidnet
    assert find_design(name).orthogonal is orthogonal
    assert (getattr(model.network, "decode", None) is not None) is decodes
    assert (model.head is not None) is has_head


@pytest.mark.paper("Sec. 7.2.4")
def test_resnet50_has_fifty_layers() -> None:
    model = build("resnet50", shape=SHAPE, people=3, seed=1, config=ResNetConfig(width=2))

    on_the_path = [
        module
        for name, module in model.network.named_modules()
        if isinstance(module, torch.nn.Conv1d | torch.nn.Linear) and ".around" not in name
    ]
    assert len(on_the_path) == 50


@pytest.mark.parametrize("name", DESIGNS)
def test_sizes_survive_being_written_on_a_card(name: str) -> None:
    config = DESIGNS[name].config

    assert read_config(name, asdict(config)) == config


def test_sizes_of_another_network_are_refused() -> None:
    with pytest.raises(ModelError, match="the model's sizes are not those of a hidnet"):
        read_config("hidnet", asdict(CnnConfig()))
    with pytest.raises(ConfigError, match="cnn is sized by a CnnConfig, not a LstmConfig"):
        build("cnn", shape=SHAPE, people=3, seed=1, config=LstmConfig())


def test_a_name_that_nobody_bears_is_refused() -> None:
    with pytest.raises(ConfigError, match="no network called 'vgg'; there are hidnet, v1"):
        build("vgg", shape=SHAPE, people=3, seed=1)


def test_one_person_cannot_be_told_apart() -> None:
    with pytest.raises(TooFewError, match="there are 1 people to tell apart"):
        build("cnn", shape=SHAPE, people=1, seed=1)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: WindowShape(axes=2), "one axis or three, not 2"),
        (lambda: WindowShape(length=0), "length must be at least 1, not 0"),
        (lambda: EncoderConfig(heads=5), "cannot be shared out among 5 heads"),
        (lambda: EncoderConfig(heads=0), "heads must be at least 1, not 0"),
        (lambda: EncoderConfig(embedding_width=33), "its width is even, not 33"),
        (lambda: TcnConfig(kernel=1), "sees no neighbors"),
        (lambda: TcnConfig(levels=0), "levels must be at least 1"),
        (lambda: HIDNetConfig(branch=TcnConfig(levels=5)), "needs a half-embedding"),
        (lambda: replace(HIDNetConfig(), axis_width=30), "cannot be shared out"),
        (lambda: CnnConfig(blocks=0), "blocks must be at least 1"),
        (lambda: ResNetConfig(width=0), "width must be at least 1"),
        (lambda: ConformerConfig(kernel=4), "odd number of taps, not 4"),
        (lambda: ConformerConfig(heads=7), "cannot be shared out"),
        (lambda: LstmConfig(layers=0), "layers must be at least 1"),
        (lambda: ProjectionConfig(width=-1), "width must be at least 1"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(AccLockError, match=reason):
        make()
