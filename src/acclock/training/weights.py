"""A trained model as safetensors: what can be trained on, adapted and exported again."""

import json

import safetensors.torch
from safetensors import SafetensorError

from acclock.embedding.card import CARD_KEY, Card
from acclock.embedding.networks.config import WindowShape
from acclock.embedding.networks.registry import build, read_config
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError


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
    model = build(
        card.network,
        shape=WindowShape(axes=card.axes, length=card.window_length),
        people=len(card.people),
        seed=0,
        config=read_config(card.network, card.config),
        embedding_width=card.embedding_width,
    )
    try:
        model.load_state_dict(safetensors.torch.load(packed))
    except (SafetensorError, RuntimeError) as error:
        raise ModelError("the weights do not fit the network that the card names") from error
    return model.eval(), card


def _read_card(packed: bytes) -> Card:
    """Read the card out of the header, which the library gives only for files on disk."""
    length = int.from_bytes(packed[:8], "little")
    try:
        header = json.loads(packed[8 : 8 + length])
        told = header["__metadata__"][CARD_KEY]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError("these bytes are not the weights of a model") from error
    return Card.from_json(told)
