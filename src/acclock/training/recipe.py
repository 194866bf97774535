"""How a model is trained: every number of it, written once, checked, by name or in a file."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_type_hints

from acclock.embedding.networks.config import NetworkConfig, WindowShape
from acclock.embedding.networks.registry import find_design, read_config
from acclock.errors import ConfigError
from acclock.pipeline import Preparation, PreparationName
from acclock.training.augmentation import Augmentation
from acclock.training.losses import LossConfig, TripletConfig
from acclock.training.whitening import WhiteningConfig

Offsets = Literal["random", "grid"]
Keep = Literal["best", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One of the two stages of training. The decay is the paper's."""

    epochs: int
    learning_rate: float
    batch: int = 64
    halved_every: int = 20
    """Epochs after which the learning rate is halved."""
    weight_decay: float = 0.0
    """Share of the weights that a step takes away, times the learning rate. The paper has none."""

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or self.halved_every < 1:
            raise ConfigError(
                "a stage has at least one epoch, two windows in a batch and one epoch to a halving,"
                f" not {self.epochs}, {self.batch} and {self.halved_every}"
            )
        if not 0 < self.learning_rate < 1:
            raise ConfigError(f"a learning rate lies between 0 and 1, not {self.learning_rate}")
        if not 0 <= self.weight_decay < 1:
            raise ConfigError(f"a weight decay is 0 or more and below 1, not {self.weight_decay}")

    def rate_at(self, epoch: int) -> float:
        """Give the learning rate of an epoch, the first being 0.

        Paper: Sec. 7.1.1, halved every 20 epochs.

        >>> [Stage(epochs=100, learning_rate=0.5).rate_at(epoch) for epoch in (0, 19, 20, 99)]
        [0.5, 0.5, 0.25, 0.03125]
        """
        return float(self.learning_rate * 0.5 ** (epoch // self.halved_every))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides what comes out of training, but for the recordings.

    Paper: Sec. 7.1.1. The defaults are the paper's, or what the paper leaves open.
    """

    network: str = "hidnet"
    sizes: Mapping[str, object] = field(default_factory=dict)
    """Sizes of the network that differ from its usual ones, by the names of its config."""
    embedding_width: int = 128
    preparation: PreparationName = "paper"
    rate_hz: float = 100.0
    window_s: float = 4.0
    axes: int = 1
    """One axis is the vertical one, x; three are weighed by attention."""
    offsets: Offsets = "grid"
    """Where windows begin: one after the other, or anywhere."""
    windows_per_person: int = 240
    """Drawn in every epoch from each person, however much there is of them."""
    network_stage: Stage = field(default_factory=lambda: Stage(epochs=100, learning_rate=1e-4))
    embedding_stage: Stage = field(
        default_factory=lambda: Stage(epochs=80, learning_rate=5e-4, batch=256)
    )
    augmentation: Augmentation = field(default_factory=Augmentation.none)
    losses: LossConfig = field(default_factory=LossConfig)
    triplets: TripletConfig = field(default_factory=TripletConfig)
    whitening: WhiteningConfig = field(default_factory=WhiteningConfig)
    keep: Keep = "best"
    """Which epoch of a stage is kept: the one that judged best, or the last, so that those who
    are kept apart choose nothing and only judge."""
    longest_gradient: float = 1.0
    """Gradients beyond this length are cut back to it."""
    folds: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.offsets not in ("random", "grid"):
            raise ConfigError(f"offsets are 'random' or 'grid', not {self.offsets!r}")
        if self.keep not in ("best", "last"):
            raise ConfigError(f"the epoch to keep is 'best' or 'last', not {self.keep!r}")
        if self.windows_per_person < 2 or self.embedding_width < 2:
            raise ConfigError(
                "a person gives at least two windows and an embedding has at least two numbers,"
                f" not {self.windows_per_person} and {self.embedding_width}"
            )
        if not self.longest_gradient > 0:
            raise ConfigError(f"longest_gradient must be positive, not {self.longest_gradient}")
        if self.folds < 2 or self.seed < 0:
            raise ConfigError(
                f"there are two folds or more and the seed is not negative,"
                f" not {self.folds} and {self.seed}"
            )
        _ = self.prepared, self.shape, self.network_config

    @property
    def prepared(self) -> Preparation:
        return Preparation(name=self.preparation, rate_hz=self.rate_hz, window_s=self.window_s)

    @property
    def shape(self) -> WindowShape:
        length = self.prepared.config.window_length
        return WindowShape(axes=self.axes, length=length, seconds=self.window_s)

    @property
    def network_config(self) -> NetworkConfig:
        usual = find_design(self.network).config
        if stray := sorted(set(self.sizes) - set(asdict(usual))):
            raise ConfigError(f"{self.network} has no size called {', '.join(stray)}")
        return read_config(self.network, {**asdict(usual), **self.sizes})


Frozen = TypeVar("Frozen")

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "paper": Recipe(),
        "fast": Recipe(
            axes=3,
            preparation="bandpass",
            offsets="random",
            windows_per_person=32,
            network_stage=Stage(epochs=30, learning_rate=2e-3, halved_every=10),
            embedding_stage=Stage(epochs=10, learning_rate=2e-3, batch=256, halved_every=5),
            augmentation=Augmentation(),
        ),
        "views": Recipe(
            network="views",
            axes=3,
            preparation="bandpass",
            embedding_width=512,
            embedding_stage=Stage(epochs=1, learning_rate=1e-3),
            keep="last",
        ),
    }
)
"""``paper`` is the paper's; ``fast`` is ours, for two cores and an evening's patience; ``views``
measures and needs no patience at all (docs/decisions/0030)."""


def find_recipe(name: str) -> Recipe:
    """Give the recipe of a name."""
    if name not in RECIPES:
        raise ConfigError(f"there is no recipe called {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]


def read_recipe(text: str) -> Recipe:
    r"""Give the recipe that a TOML text tells: one by name, ``base``, with what differs.

    >>> read_recipe('base = "paper"\n[network_stage]\nepochs = 3').network_stage
    Stage(epochs=3, learning_rate=0.0001, batch=64, halved_every=20, weight_decay=0.0)
    """
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the recipe is not TOML: {error}") from error
    return _change(find_recipe(str(told.pop("base", "paper"))), told)


def write_recipe(recipe: Recipe) -> str:
    """Write a recipe as JSON, every number of it, the same for equal recipes."""
    return json.dumps(asdict(recipe), indent=2, sort_keys=True)


def _change(recipe: Frozen, told: Mapping[str, Any]) -> Frozen:
    """Give the same value with other fields, fields of fields included."""
    kinds = get_type_hints(type(recipe))
    if stray := sorted(set(told) - set(kinds)):
        raise ConfigError(f"a {type(recipe).__name__.lower()} has no {', '.join(stray)}")
    changes = {name: _convert(getattr(recipe, name), value) for name, value in told.items()}
    try:
        return replace(recipe, **changes)  # type: ignore[type-var]
    except TypeError as error:
        raise ConfigError(f"the recipe holds a value of the wrong kind: {error}") from error


def _convert(usual: object, told: object) -> object:
    if is_dataclass(usual) and isinstance(told, Mapping):
        return _change(usual, told)
    if isinstance(usual, float) and isinstance(told, int):
        return float(told)
    if not isinstance(told, type(usual)) or isinstance(usual, bool) != isinstance(told, bool):
        raise ConfigError(f"{told!r} stands where something like {usual!r} was expected")
    return told
