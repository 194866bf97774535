"""A trained model, turned into a file that runs without torch."""

import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict
from types import MappingProxyType

import numpy as np
import onnx
import torch
from numpy.typing import NDArray

from acclock.embedding.card import CARD_KEY, Card, hash_person
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.grid import fingerprint
from acclock.training.recipe import Recipe
from acclock.values import FloatArray


@contextmanager
def quietly() -> Iterator[None]:
    """Spare the user remarks that only the authors of a library can act on.

    Torch's exporter warns of its own old habits and of torchvision, which nobody asked for;
    the quantizer leaves a file open and advises on preparations. Errors are still raised.
    """
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


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


PARITY_WINDOWS = 1000
PARITY_LIMIT = 1e-5
_BATCH = 250


def export(
    model: EmbeddingModel, card: Card, *, windows: NDArray[np.float32] | None = None
) -> bytes:
    """Give the model as ONNX, prepared window to unit embedding, with its card inside.

    The file is run beside the model on a thousand windows (noise, unless others are given), and
    refused where the two differ.
    """
    still = deepcopy(model).eval()
    if windows is None:
        windows = draw_noise(card, count=PARITY_WINDOWS)
    exported = _convert(still, card, torch.from_numpy(windows[:2]))
    check_parity(still, exported, windows)
    return exported


def draw_noise(card: Card, *, count: int) -> NDArray[np.float32]:
    """Give windows of nothing but chance, in the shape that a model reads."""
    shape = (count, card.axes, card.window_length)
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def check_parity(model: EmbeddingModel, exported: bytes, windows: NDArray[np.float32]) -> None:
    """Refuse a file that embeds any of these windows otherwise than the model does."""
    differences = np.abs(Embedder(exported).embed(windows) - embed_eagerly(model, windows))
    if not differences.max() < PARITY_LIMIT:
        raise ModelError(
            f"the exported model differs from the trained one by {differences.max():.1e};"
            f" this needs less than {PARITY_LIMIT:.0e}"
        )


def embed_eagerly(model: EmbeddingModel, windows: NDArray[np.float32]) -> FloatArray:
    """Embed windows by torch, batch after batch, as the embedder does by ONNX Runtime."""
    with torch.inference_mode():
        parts = [
            model(torch.from_numpy(windows[start : start + _BATCH])).numpy()
            for start in range(0, len(windows), _BATCH)
        ]
    return np.concatenate(parts).astype(np.float64)


def _convert(model: EmbeddingModel, card: Card, example: torch.Tensor) -> bytes:
    # An example of one window would make the exporter take the batch for a constant.
    with quietly():
        program = torch.onnx.export(
            model,
            (example,),
            input_names=["windows"],
            output_names=["embeddings"],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
            external_data=False,
            verbose=False,
        )
    if program is None:
        raise ModelError("the exporter gave nothing back")
    network = program.model_proto
    forget_sources(network.graph)
    network.metadata_props.add(key=CARD_KEY, value=card.to_json())
    return bytes(network.SerializeToString())


def forget_sources(graph: onnx.GraphProto) -> None:
    """Strip what the exporter notes about every node: file names and lines of whoever exported."""
    del graph.value_info[:]
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
