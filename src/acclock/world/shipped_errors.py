"""What the shipped model does on the people of a training: the errors to beat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from acclock.embedding.card import Card
from acclock.pipeline import Preparation
from acclock.training.figures import measure
from acclock.training.grid import fingerprint, lay_grid
from acclock.training.judging import pool, try_all
from acclock.training.rates import bring_to
from acclock.training.recipe import Recipe
from acclock.training.subjects import Session, Subject, deal
from acclock.world.weights import load_weights

_MODELS = {100.0: "default", 75.0: "default-50", 50.0: "default-50", 25.0: "default-25"}
"""The rate of a recipe to the shipped model for earphones that sample so often."""
_COMPARED = 5
"""Windows whose mean decides which of two models is said to do better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedErrors:
    """The errors of a shipped model in the trials of a training."""

    model: str
    metrics: Mapping[str, float]
    """As :func:`~acclock.training.figures.measure` gives them."""
    known_people: int
    """How many of these people it learned from itself, which flatters it."""

    @property
    def reservation(self) -> str:
        """What to know beside its errors; empty where it has met nobody."""
        known = self.known_people
        return f" (it learned from {known} of these people)" if known else ""

    def compare(self, metrics: Mapping[str, float]) -> list[str]:
        """Give a line for each data set and number of windows: another model beside this one."""
        return [
            f"{name.replace('_equal_error_', ', windows averaged: ')}:"
            f" {metrics[name]:.1%}, the shipped {self.model}{self.reservation}: {theirs:.1%}"
            for name, theirs in self.metrics.items()
            if name in metrics and name.rpartition("_")[2].isdecimal()
        ]

    def find_unbeaten(self, metrics: Mapping[str, float]) -> list[str]:
        """Say on which data sets another model, with these metrics, errs no less than this one."""
        ending = f"_equal_error_{_COMPARED}"
        return [
            f"on {name.removesuffix(ending)} this model errs in {metrics[name]:.1%} and the shipped"
            f" {self.model}{self.reservation} in {theirs:.1%} (mean of {_COMPARED} windows):"
            " use the shipped one, or record more people"
            for name, theirs in self.metrics.items()
            if name.endswith(ending) and name in metrics and not metrics[name] < theirs
        ]


def measure_shipped(subjects: Sequence[Subject], recipe: Recipe) -> ShippedErrors:
    """Try the shipped model for a recipe's rate on the same people, in the same folds.

    It reads windows that are prepared as it wants them, whatever the recipe's are.
    """
    name = _MODELS[recipe.rate_hz]
    model, card = load_weights(name)
    folds = deal(subjects, folds=recipe.folds, seed=recipe.seed)
    prepared = [(folds[one.name], _prepare(one, recipe, card)) for one in subjects]
    tried = [
        try_all(model, [one for fold, one in prepared if fold == n], axes=card.axes)
        for n in range(recipe.folds)
    ]
    return ShippedErrors(
        model=name,
        metrics=measure(pool(tried)),
        known_people=sum(card.learned_from(subject.name) for subject in subjects),
    )


def _prepare(subject: Subject, recipe: Recipe, card: Card) -> Subject:
    if fingerprint(recipe.prepared) == card.denoiser:
        return subject
    preparation = Preparation.of(card)
    recordings = [bring_to(one.recording, card.rate_hz) for one in subject.sessions]
    sessions = tuple(
        Session(recording=recording, grid=lay_grid(recording, preparation))
        for recording in recordings
    )
    return replace(subject, sessions=sessions)
