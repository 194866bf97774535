"""Every network by its name: HIDNet, its ablations V1 to V5, the baselines, and our own two."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_type_hints

import torch

from acclock.embedding.networks.baselines import Cnn, Conformer, Lstm, Projection, ResNet50
from acclock.embedding.networks.config import (
    CnnConfig,
    ConformerConfig,
    HIDNetConfig,
    LstmConfig,
    NetworkConfig,
    ProjectionConfig,
    ResNetConfig,
    TwoBranchConfig,
    ViewsConfig,
    WindowShape,
)
from acclock.embedding.networks.hidnet import HIDNet
from acclock.embedding.networks.siamese import Classified, EmbeddingModel, Plain, SiameseHead
from acclock.embedding.networks.two_branch import TwoBranch
from acclock.embedding.networks.views import Views
from acclock.errors import ConfigError, ModelError, TooFewError

Config = TypeVar("Config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What a name stands for: the network, and which of the paper's parts go with it."""

    config: NetworkConfig
    reconstructs: bool = True
    """Whether HIDNet has a decoder, and with it the integrity term of the loss."""
    orthogonal: bool = True
    """Whether the loss keeps identity and nuisance apart."""
    head: Literal["siamese", "whitened", "none"] = "siamese"
    """What makes the embedding: a layer trained by triplets, a layer in closed form
    (:mod:`acclock.training.whitening`), or nothing: the features themselves."""
    taught: bool = True
    """Whether the network learns by naming people; what only measures has nothing to learn."""


DESIGNS: Mapping[str, Design] = MappingProxyType(
    {
        "hidnet": Design(config=HIDNetConfig()),
        "v1": Design(config=HIDNetConfig(), orthogonal=False),
        "v2": Design(config=HIDNetConfig(), reconstructs=False),
        "v3": Design(config=HIDNetConfig(), reconstructs=False, orthogonal=False),
        "v4": Design(config=ProjectionConfig()),
        "v5": Design(config=HIDNetConfig(), head="none"),
        "cnn": Design(config=CnnConfig()),
        "resnet50": Design(config=ResNetConfig()),
        "conformer": Design(config=ConformerConfig()),
        "lstm": Design(config=LstmConfig()),
        "two-branch": Design(config=TwoBranchConfig(), head="whitened"),
        "views": Design(config=ViewsConfig(), head="whitened", taught=False),
    }
)


def find_design(name: str) -> Design:
    """Give what a name stands for.

    Paper: Secs. 7.2.4 and 7.3, the baselines and the ablations.
    """
    if name not in DESIGNS:
        raise ConfigError(f"there is no network called {name!r}; there are {', '.join(DESIGNS)}")
    return DESIGNS[name]


def build(
    name: str,
    *,
    shape: WindowShape,
    people: int,
    seed: int,
    config: NetworkConfig | None = None,
    embedding_width: int = 128,
) -> EmbeddingModel:
    """Build a network by name, ready to be trained on so many people.

    The seed alone decides the first weights. A ``config`` changes the sizes, not the kind.
    """
    design = find_design(name)
    if config is not None and type(config) is not type(design.config):
        raise ConfigError(
            f"{name} is sized by a {type(design.config).__name__}, not a {type(config).__name__}"
        )
    if people < 2:
        raise TooFewError(what="people to tell apart", have=people, need=2)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _build_network(
            config or design.config, shape, people, reconstructs=design.reconstructs
        )
        with_head = design.head != "none"
        head = SiameseHead(network.feature_width, embedding_width) if with_head else None
    return EmbeddingModel(network, head)


def read_config(name: str, told: Mapping[str, object]) -> NetworkConfig:
    """Give the sizes that a model's card tells, in the form in which they build the network.

    >>> from dataclasses import asdict
    >>> read_config("hidnet", asdict(HIDNetConfig())) == HIDNetConfig()
    True
    """
    try:
        return _revive(type(find_design(name).config), told)
    except (TypeError, AttributeError) as error:
        raise ModelError(f"the model's sizes are not those of a {name}: {error}") from error


def _revive(kind: type[Config], told: Mapping[str, Any]) -> Config:
    nested = get_type_hints(kind)
    return kind(
        **{
            name: _revive(nested[name], value) if isinstance(value, Mapping) else value
            for name, value in told.items()
        }
    )


def _build_network(
    config: NetworkConfig, shape: WindowShape, people: int, *, reconstructs: bool
) -> HIDNet | Classified:
    if isinstance(config, HIDNetConfig):
        return HIDNet(config, shape=shape, people=people, reconstructs=reconstructs)
    return Classified(_build_plain(config, shape), people)


def _build_plain(config: NetworkConfig, shape: WindowShape) -> Plain:
    makers: dict[type, Callable[..., Plain]] = {
        CnnConfig: Cnn,
        ResNetConfig: ResNet50,
        ConformerConfig: Conformer,
        LstmConfig: Lstm,
        ProjectionConfig: Projection,
        TwoBranchConfig: TwoBranch,
        ViewsConfig: Views,
    }
    return makers[type(config)](config, shape)
