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
_PRODUCTS = ("MatMul", "Gemm", "Conv")
_WORTH_QUANTIZING = 0.01
"""Share of all weights below which a tensor keeps its 32 bits: nothing would be saved."""


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
    Each output has a scale of its own: those of a whitening head differ by 10 to 30 times in
    strength. What a spectrum is measured with keeps its 32 bits (docs/decisions/0051).
    """
    network = onnx.load_from_string(model)
    kept = find_kept_whole(network.graph)
    with tempfile.TemporaryDirectory() as folder, quietly():
        target = Path(folder, "quantized.onnx")
        quantize_dynamic(
            network,
            target,
            per_channel=True,
            weight_type=QuantType.QUInt8,
            # the quantizer turns a Gemm into a MatMul under this name before it looks
            nodes_to_exclude=[name for node in kept for name in (node, f"{node}_MatMul")],
        )
        quantized = onnx.load(target)
    return _sign(quantized, precision="int8")


def find_kept_whole(graph: onnx.GraphProto) -> list[str]:
    """Name the products that 8 bits would spoil, and those that they would hardly make smaller.

    The powers of a spectrum span decades. In 8 bits the weak bands are zero, and a logarithm or
    a coherence of nothing is no number. So a product stays whole if a logarithm is taken of what
    comes of it, or if it measures with the same weights as one of which that is true.
    """
    sizes = {one.name: int(np.prod(one.dims)) for one in graph.initializer}
    measuring = _find_before(graph, "Log")
    products = [node for node in graph.node if node.op_type in _PRODUCTS]
    kept = {name for node in products if node.name in measuring for name in node.input}
    least = _WORTH_QUANTIZING * sum(sizes.values())
    kept |= {name for name, size in sizes.items() if size < least}
    return [
        node.name
        for node in products
        if node.name in measuring or any(name in kept for name in node.input[:2] if name in sizes)
    ]


def _find_before(graph: onnx.GraphProto, operation: str) -> set[str]:
    """Name the nodes from which an operation is reached."""
    wanted: set[str] = set()
    found: set[str] = set()
    for node in reversed(graph.node):  # a graph lists what is computed first first
        if node.op_type == operation or wanted.intersection(node.output):
            wanted.update(node.input)
            found.add(node.name)
    return found


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
