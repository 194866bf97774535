"""Trained weights, found and verified as other model files are."""

from pathlib import Path

from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.weights import recover, unpack
from acclock.world import models
from acclock.world.models.files import read_model


def load_weights(name: str) -> tuple[EmbeddingModel, Card]:
    """Give the model whose weights lie in a file, or are shipped under this name."""
    shipped = Path(models.__file__).parent
    places = (Path(name), shipped / f"{name}.safetensors", shipped / f"{name}.onnx")
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise ModelError(f"there are no weights {name!r}: it is neither a file nor shipped")
    readers = {".safetensors": unpack, ".onnx": recover}
    if found.suffix not in readers:
        raise ModelError(f"{found} does not hold weights; those end in .safetensors or .onnx")
    return readers[found.suffix](read_model(found))
