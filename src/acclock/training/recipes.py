"""Recipes by name, and recipes in files."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from acclock.errors import ConfigError
from acclock.training.augmentation import Augmentation
from acclock.training.recipe import Recipe, Stage

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
