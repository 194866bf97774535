"""A trained model, adapted to another device by a few people who wear it: in memory and on disk."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from acclock.embedding.card import Card, hash_person
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ConfigError
from acclock.models.files import write_model
from acclock.pipeline import Preparation
from acclock.training.augmentation import Augmentation
from acclock.training.batches import draw_batches
from acclock.training.checkpoint import Report, load_weights, pack
from acclock.training.corpora import OnProgress, gather
from acclock.training.export import export
from acclock.training.judging import judge_model, try_all
from acclock.training.lessons import descend, make_embedding_lesson
from acclock.training.losses import TripletConfig
from acclock.training.recipe import Recipe, Stage
from acclock.training.run import OnReport
from acclock.training.subjects import Subject, check_subjects, deal


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraConfig:
    """How much a network may change. Ours: the paper gives no numbers (docs/decisions/0013)."""

    rank: int = 4
    scale: float = 2.0
    """What the low-rank product is multiplied by."""

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ConfigError(f"rank must be at least 1, not {self.rank}")
        if not self.scale > 0:
            raise ConfigError(f"scale must be positive, not {self.scale}")


class LowRankChange(nn.Module):
    """A weight in, the same weight out plus a product of two thin matrices.

    Only ``rows`` of the weight change, block by block, each with a product of its own. One factor
    starts at zero, so that nothing changes before the first step.
    """

    def __init__(self, weight: Tensor, config: LoraConfig, blocks: list[slice]) -> None:
        super().__init__()
        self.scale = config.scale
        self.blocks = blocks
        columns = weight[0].numel()
        heights = [len(range(*block.indices(len(weight)))) for block in blocks]
        self.ups = nn.ParameterList(torch.zeros(height, config.rank) for height in heights)
        self.downs = nn.ParameterList(
            torch.randn(config.rank, columns) / columns**0.5 for _ in blocks
        )

    def forward(self, weight: Tensor) -> Tensor:
        changed = weight.flatten(1).clone()
        for block, up, down in zip(self.blocks, self.ups, self.downs, strict=True):
            changed[block] = changed[block] + self.scale * (up @ down)
        return changed.view_as(weight)


def adapt(network: nn.Module, config: LoraConfig, *, seed: int) -> list[nn.Parameter]:
    """Freeze a network, give it low-rank changes, and return the parameters that may learn.

    Paper: Sec. 7.5. Changed are all convolutions and, in attention, the projections of query and
    value. Train it in evaluation mode: the running means of the normalizations belong to the
    frozen part.
    """
    network.requires_grad_(requires_grad=False)
    changes: list[LowRankChange] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for module in list(network.modules()):
            for name, blocks in _find_changeable(module).items():
                change = LowRankChange(getattr(module, name), config, blocks)
                parametrize.register_parametrization(module, name, change)
                changes.append(change)
    if not changes:
        raise ConfigError("this network has neither convolutions nor attention to adapt")
    return [parameter for change in changes for parameter in change.parameters()]


def merge(network: nn.Module) -> None:
    """Make the changes part of the weights: the network is again as it was built, but adapted."""
    for module in list(network.modules()):
        if parametrize.is_parametrized(module):
            for name in _find_changeable(module):
                parametrize.remove_parametrizations(module, name, leave_parametrized=True)


def _find_changeable(module: nn.Module) -> dict[str, list[slice]]:
    """Which weight of a module changes, and which blocks of its rows."""
    if isinstance(module, nn.Conv1d):
        return {"weight": [slice(None)]}
    if isinstance(module, nn.MultiheadAttention):
        width = module.embed_dim
        queries, values = slice(0, width), slice(2 * width, 3 * width)
        return {"in_proj_weight": [queries, values]}
    return {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adapted:
    """The model with the changes merged, and what they did for people it did not learn from."""

    model: EmbeddingModel
    card: Card
    error_before: float
    error_after: float
    best_epoch: int
    """Zero when no epoch was better than the model as it came."""


def make_room(model: EmbeddingModel, count: int) -> EmbeddingModel:
    """Let the classifiers know more people, none of whom they can name yet.

    They play no part in an embedding; but a model's file names as many people as its card.
    """
    for name in ("name_person", "betray_person"):
        if (old := getattr(model.network, name, None)) is not None:
            wider = nn.Linear(old.in_features, old.out_features + count)
            with torch.no_grad():
                wider.weight.zero_()[: old.out_features] = old.weight
                wider.bias.zero_()[: old.out_features] = old.bias
            setattr(model.network, name, wider)
    return model


def sign(card: Card, learned: Sequence[Subject], before: float, after: float) -> Card:
    """Give the card of a model after some people taught it their device."""
    sources = sorted({subject.source for subject in learned})
    return replace(
        card,
        name=f"{card.name}-adapted",
        training_data=(*card.training_data, *(f"adapted to {source}" for source in sources)),
        people=(*card.people, *(hash_person(subject.name) for subject in learned)),
        metrics={"equal_error_before_adaptation": before, "equal_error_after_adaptation": after},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptConfig:
    """How a model is adapted. Only the epochs are the paper's (docs/decisions/0020)."""

    stage: Stage = field(default_factory=lambda: Stage(epochs=20, learning_rate=1e-3, batch=128))
    lora: LoraConfig = field(default_factory=LoraConfig)
    triplets: TripletConfig = field(default_factory=TripletConfig)
    augmentation: Augmentation = field(default_factory=Augmentation)
    windows_per_person: int = 32
    longest_gradient: float = 1.0
    seed: int = 0


def adapt_model(
    model: EmbeddingModel,
    card: Card,
    learned: Sequence[Subject],
    judges: Sequence[Subject],
    *,
    config: AdaptConfig,
    on_report: Callable[[Report], object] = lambda _: None,
) -> Adapted:
    """Teach a copy of a model the windows of other people, by low-rank changes alone.

    Paper: Sec. 7.5: the backbone is frozen, triplets are told apart, twenty epochs. The epoch is
    chosen by people who are not learned from.
    """
    recipe = recipe_of(card, config)
    pupil = deepcopy(model).eval()
    before = judge_model(try_all(pupil, judges, axes=card.axes))
    parameters = adapt(pupil, config.lora, seed=config.seed)
    optimizer = torch.optim.Adam(parameters, lr=config.stage.learning_rate)
    best, best_error, best_epoch = _copy(parameters), before, 0
    for epoch in range(config.stage.epochs):
        loss = _learn(pupil, optimizer, parameters, learned, recipe, epoch, config)
        error = judge_model(try_all(pupil, judges, axes=card.axes))
        if error < best_error:
            best, best_error, best_epoch = _copy(parameters), error, epoch + 1
        on_report(
            Report(
                stage="adaptation",
                epoch=epoch,
                epochs=config.stage.epochs,
                loss=loss,
                error=error,
            )
        )
    _restore(parameters, best)
    merge(pupil)
    return Adapted(
        model=make_room(pupil, len(learned)),
        card=sign(card, learned, before, best_error),
        error_before=before,
        error_after=best_error,
        best_epoch=best_epoch,
    )


def recipe_of(card: Card, config: AdaptConfig) -> Recipe:
    """Give the recipe that draws windows as the model was trained on."""
    return Recipe(
        network=card.network,
        sizes=card.config,
        embedding_width=card.embedding_width,
        preparation=Preparation.of(card).name,
        rate_hz=card.rate_hz,
        axes=card.axes,
        offsets="random",
        windows_per_person=config.windows_per_person,
        augmentation=config.augmentation,
    )


def _copy(parameters: list[nn.Parameter]) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in parameters]


def _restore(parameters: list[nn.Parameter], values: list[torch.Tensor]) -> None:
    with torch.no_grad():
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)


def _learn(  # noqa: PLR0913 - an epoch needs all of it
    pupil: EmbeddingModel,
    optimizer: torch.optim.Optimizer,
    parameters: list[nn.Parameter],
    learned: Sequence[Subject],
    recipe: Recipe,
    epoch: int,
    config: AdaptConfig,
) -> float:
    teach = make_embedding_lesson(config.triplets.margin)
    for group in optimizer.param_groups:
        group["lr"] = config.stage.rate_at(epoch)
    chance = np.random.default_rng([config.seed, epoch])
    batches = draw_batches(learned, recipe, batch=config.stage.batch, chance=chance)
    losses = [
        descend(
            optimizer,
            teach(pupil, batch, progress=epoch / config.stage.epochs),
            parameters,
            config.longest_gradient,
        )
        for batch in batches
    ]
    return float(np.mean(losses))


_FOLDS = 3
"""A third of the people is kept apart to judge by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAdaptation:
    """Where the adapted model is, and what the adaptation did for people it did not see."""

    weights: Path
    model: Path
    error_before: float
    error_after: float
    best_epoch: int


def adapt_into(
    model: str,
    places: Sequence[str],
    folder: Path,
    *,
    epochs: int = 20,
    on_progress: OnProgress = lambda *_: None,
    on_report: OnReport = lambda *_: None,
) -> WrittenAdaptation:
    """Adapt a model to the people of some data sets and write it into a folder."""
    trained, card = load_weights(model)
    config = AdaptConfig()
    config = replace(config, stage=replace(config.stage, epochs=epochs))
    prepared: Preparation = recipe_of(card, config).prepared
    corpus = gather(places, prepared, cache=folder / "windows", on_progress=on_progress)
    subjects = check_subjects(corpus.subjects, folds=_FOLDS)
    folds = deal(subjects, folds=_FOLDS, seed=config.seed)
    adapted = adapt_model(
        trained,
        card,
        [subject for subject in subjects if folds[subject.name]],
        [subject for subject in subjects if not folds[subject.name]],
        config=config,
        on_report=_count(on_report, epochs),
    )
    weights = folder / f"{adapted.card.name}.safetensors"
    written = folder / f"{adapted.card.name}.onnx"
    write_model(weights, pack(adapted.model, adapted.card))
    write_model(written, export(adapted.model, adapted.card))
    return WrittenAdaptation(
        weights=weights,
        model=written,
        error_before=adapted.error_before,
        error_after=adapted.error_after,
        best_epoch=adapted.best_epoch,
    )


def _count(on_report: OnReport, epochs: int) -> Callable[[Report], object]:
    return lambda report: on_report("adapting", report, report.epoch + 1, epochs)
