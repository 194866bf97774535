"""A trained model as a program for ExecuTorch, torch's own runtime for phones."""

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.export import PARITY_LIMIT, draw_noise, embed_eagerly
from acclock.training.quiet import quietly

_MOST_WINDOWS = 256
_PARITY_WINDOWS = 200


def export_mobile(model: EmbeddingModel, card: Card) -> bytes:
    """Give the model as a ``.pte`` program, prepared window to unit embedding.

    Its method ``forward`` takes up to 256 windows, its method ``card`` gives the card as JSON.
    It is run beside the model on two hundred windows, and refused where the two differ.
    """
    windows = draw_noise(card, count=_PARITY_WINDOWS)
    still = _keep_buffers(deepcopy(model).eval())
    exported = _convert(still, card, torch.from_numpy(windows[:2]))
    difference = np.abs(run_mobile(exported, windows) - embed_eagerly(still, windows)).max()
    if not difference < PARITY_LIMIT:
        raise ModelError(
            f"the exported program differs from the trained model by {difference:.1e};"
            f" this needs less than {PARITY_LIMIT:.0e}"
        )
    return exported


def run_mobile(program: bytes, windows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Run an exported program as a phone would."""
    (embeddings,) = _call(program, "forward", torch.from_numpy(windows))
    return np.asarray(embeddings)


def read_mobile_card(program: bytes) -> Card:
    """Give the card inside an exported program."""
    (text,) = _call(program, "card")
    return Card.from_json(text)


def _convert(model: EmbeddingModel, card: Card, example: torch.Tensor) -> bytes:
    with quietly():
        # An extra that few have, and whose parts remark on each other when they are loaded.
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower

        batch = torch.export.Dim("batch", max=_MOST_WINDOWS)
        traced = torch.export.export(model, (example,), dynamic_shapes=({0: batch},))
        lowered = to_edge_transform_and_lower(
            traced.run_decompositions({torch.ops.aten.split.Tensor: _cut}),
            partitioner=[XnnpackPartitioner()],
            constant_methods={"card": card.to_json()},
        )
        return bytes(lowered.to_executorch().buffer)


def _keep_buffers(model: EmbeddingModel) -> EmbeddingModel:
    """Make every fixed measure part of what a model stores.

    XNNPACK's converter writes the filters of a convolution back among the stored weights, and
    torch refuses a program in which a buffer that is not stored lies there.
    """
    for part in model.modules():
        for name, buffer in part.named_buffers(recurse=False):
            part.register_buffer(name, buffer)
    return model


def _cut(whole: Tensor, length: int, dim: int = 0) -> list[Tensor]:
    """Split a tensor by slices: at ExecuTorch's own split any batch becomes that of the example."""
    starts = range(0, whole.shape[dim], length)
    return [whole.narrow(dim, n, min(length, whole.shape[dim] - n)) for n in starts]


def _call(program: bytes, method: str, *arguments: torch.Tensor) -> list[Any]:
    with quietly():
        from executorch.runtime import Runtime  # as above

        loaded = Runtime.get().load_program(program).load_method(method)
        return list(loaded.execute(list(arguments)))
