"""A trained model as safetensors: what can be trained on, adapted and exported again."""

import json

import onnx
import safetensors.torch
import torch
from safetensors import SafetensorError

from acclock.embedding.card import CARD_KEY, Card
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.config import WindowShape
from acclock.embedding.networks.registry import build, read_config
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.export import check_parity, draw_noise

_PARITY_WINDOWS = 100


def pack(model: EmbeddingModel, card: Card) -> bytes:
    """Give all weights of a model in one file, with its card inside."""
    people = model.network.name_person.out_features
    if people != len(card.people):
        raise ModelError(
            f"the model names {people} people, and its card says it learned from {len(card.people)}"
        )
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    return bytes(safetensors.torch.save(tensors, metadata={CARD_KEY: card.to_json()}))


def unpack(packed: bytes) -> tuple[EmbeddingModel, Card]:
    """Build the model that a file holds; a file that is damaged or of another kind is refused."""
    card = _read_card(packed)
    model = _build(card)
    try:
        model.load_state_dict(safetensors.torch.load(packed))
    except (SafetensorError, RuntimeError) as error:
        raise ModelError("the weights do not fit the network that the card names") from error
    return model.eval(), card


def recover(exported: bytes) -> tuple[EmbeddingModel, Card]:
    """Build the model that an ONNX file was exported from, by the weights in that file.

    What only training needs (the layer that names people) is not in it and starts anew. A file
    whose weights were merged or rounded when it was written does not give its model back, and
    is refused.
    """
    card = Embedder(exported).card
    model = _build(card).eval()
    held = {
        one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy())
        for one in onnx.load_from_string(exported).graph.initializer
    }
    known = {name: held[name] for name in model.state_dict() if name in held}
    try:
        model.load_state_dict(known, strict=False)
        check_parity(model, exported, draw_noise(card, count=_PARITY_WINDOWS))
    except (RuntimeError, ModelError) as error:
        raise ModelError(
            "the weights cannot be had back from this ONNX file; name the .safetensors beside it"
        ) from error
    return model, card


def _build(card: Card) -> EmbeddingModel:
    return build(
        card.network,
        shape=WindowShape(axes=card.axes, length=card.window_length),
        people=len(card.people),
        seed=0,
        config=read_config(card.network, card.config),
        embedding_width=card.embedding_width,
    )


def _read_card(packed: bytes) -> Card:
    """Read the card out of the header, which the library gives only for files on disk."""
    length = int.from_bytes(packed[:8], "little")
    try:
        header = json.loads(packed[8 : 8 + length])
        told = header["__metadata__"][CARD_KEY]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError("these bytes are not the weights of a model") from error
    return Card.from_json(told)
