"""What a model file says of the model in it: from the recipe, and who was learned from."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from types import MappingProxyType

from acclock.embedding.card import Card, hash_person
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.training.grid import fingerprint
from acclock.training.recipe import Recipe


def describe_model(  # noqa: PLR0913 - a card says much
    model: EmbeddingModel,
    recipe: Recipe,
    *,
    name: str,
    people: Iterable[str],
    training_data: tuple[str, ...],
    version: str = "1",
    license: str = "generated",  # noqa: A002 - as the card calls it
    metrics: Mapping[str, float] = MappingProxyType({}),
) -> Card:
    """Give the card of a model that was made by a recipe; people are known by hash alone."""
    return Card(
        name=name,
        version=version,
        network=recipe.network,
        config=asdict(recipe.network_config),
        rate_hz=recipe.rate_hz,
        axes=recipe.axes,
        window_length=recipe.shape.length,
        embedding_width=model.embedding_width,
        preparation=recipe.preparation,
        denoiser=fingerprint(recipe.prepared),
        training_data=training_data,
        people=tuple(hash_person(person) for person in people),
        license=license,
        metrics={name: round(value, 4) for name, value in metrics.items()},
    )
