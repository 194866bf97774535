"""Smaller variants of an exported model, and what they cost in accuracy."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16

from acclock.embedding.card import CARD_KEY, Card, Precision
from acclock.embedding.embedder import Embedder
from acclock.errors import ModelError
from acclock.matching.rates import EqualError, equal_error
from acclock.training.quiet import quietly
from acclock.values import FloatArray

_KEPT_WHOLE = ["ReduceL2"]
"""The length of a vector: a sum of squares leaves the range of 16 bits too easily."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLoss:
    """How far a variant is from the model that it came from."""

    bytes_before: int
    bytes_after: int
    mean_cosine: float
    """Between the two embeddings of a window; one is no change."""
    least_cosine: float
    before: EqualError | None = None
    """Over all pairs of windows; ``None`` when nobody said whose windows they are."""
    after: EqualError | None = None


def halve(model: bytes) -> bytes:
    """Give the model with weights of 16 bits; windows and embeddings keep their 32."""
    network = onnx.load_from_string(model)
    blocked = [*DEFAULT_OP_BLOCK_LIST, *_KEPT_WHOLE]
    with quietly():
        halved = convert_float_to_float16(network, keep_io_types=True, op_block_list=blocked)
    return _sign(halved, precision="float16")


def quantize(model: bytes) -> bytes:
    """Give the model with weights of 8 bits, its activations scaled as they come.

    The scale is taken over the whole batch, so an embedding depends a little on its neighbors.
    Weights are unsigned: without VNNI, signed ones saturate and cost a hundred times the accuracy.
    """
    with tempfile.TemporaryDirectory() as folder, quietly():
        target = Path(folder, "quantized.onnx")
        quantize_dynamic(onnx.load_from_string(model), target, weight_type=QuantType.QUInt8)
        quantized = onnx.load(target)
    return _sign(quantized, precision="int8")


def measure_loss(
    model: bytes,
    variant: bytes,
    *,
    windows: NDArray[np.floating[Any]],
    people: Sequence[str] | None = None,
) -> VariantLoss:
    """Compare a variant with its model on windows; told whose they are, on verification too."""
    before, after = Embedder(model).embed(windows), Embedder(variant).embed(windows)
    cosines = (before * after).sum(axis=1)
    return VariantLoss(
        bytes_before=len(model),
        bytes_after=len(variant),
        mean_cosine=float(cosines.mean()),
        least_cosine=float(cosines.min()),
        before=None if people is None else compare_pairs(before, people),
        after=None if people is None else compare_pairs(after, people),
    )


def compare_pairs(embeddings: FloatArray, people: Sequence[str]) -> EqualError:
    """Give the equal error over all pairs of windows: same person against different people."""
    names = np.asarray(people)
    if names.shape != (len(embeddings),):
        raise ModelError(f"there are {len(embeddings)} windows and {names.size} names to them")
    first, second = np.triu_indices(len(names), k=1)
    distances = np.linalg.norm(embeddings[first] - embeddings[second], axis=1)
    same = names[first] == names[second]
    return equal_error(distances[same], distances[~same])


def _sign(network: onnx.ModelProto, *, precision: Precision) -> bytes:
    """Write the precision on the card, and drop whatever else the converter noted."""
    told = {entry.key: entry.value for entry in network.metadata_props}
    if CARD_KEY not in told:
        raise ModelError("the model carries no card, so nobody knows what windows it reads")
    card = replace(Card.from_json(told[CARD_KEY]), precision=precision)
    del network.metadata_props[:]
    network.metadata_props.add(key=CARD_KEY, value=card.to_json())
    return bytes(network.SerializeToString())
