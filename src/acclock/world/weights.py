"""Trained weights, found and verified as other model files are."""

from pathlib import Path

from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.weights import unpack
from acclock.world import models
from acclock.world.models.files import read_model


def load_weights(name: str) -> tuple[EmbeddingModel, Card]:
    """Give the model whose weights lie in a file, or are shipped under this name."""
    shipped = Path(models.__file__).parent / f"{name}.safetensors"
    found = next((path for path in (Path(name), shipped) if path.is_file()), None)
    if found is None:
        raise ModelError(f"there are no weights {name!r}: it is neither a file nor shipped")
    if found.suffix != ".safetensors":
        raise ModelError(f"{found} does not hold weights; those end in .safetensors")
    return unpack(read_model(found))
