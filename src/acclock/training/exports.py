"""Weights on disk, written as files that run without torch: ONNX, ExecuTorch."""

import tempfile
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16
from torch import Tensor

from acclock.embedding.card import CARD_KEY, Card, Precision
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ConfigError, ModelError
from acclock.matching.rates import EqualError, equal_error
from acclock.models.exports import write_export
from acclock.models.files import find_model, read_model
from acclock.pipeline import Preparation
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.batches import keep_axes
from acclock.training.checkpoint import load_weights
from acclock.training.export import PARITY_LIMIT, draw_noise, embed_eagerly, export, quietly
from acclock.training.grid import Windows, bring_to, lay_grid
from acclock.training.raw.export import export_raw
from acclock.values import FloatArray

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


_WEARERS = 6
_WEARING_S = 60.0


def export_into(name: str, path: Path, *, raw: bool, precision: Precision) -> dict[str, object]:
    """Write a model as ONNX with its manifest, and say what was written."""
    if raw and precision != "float32":
        raise ConfigError(f"a model for raw acceleration has float32 weights, not {precision}")
    if raw:
        model, card = load_weights(name)
        return write_export(path, export_raw(model, card), card, raw=True)
    exported, card = _export_windows(name)
    if precision == "float32":
        return write_export(path, exported, card)
    smaller = {"float16": halve, "int8": quantize}[precision](exported)
    windows, people = simulate_windows(card)
    loss = measure_loss(exported, smaller, windows=windows, people=people)
    return write_export(path, smaller, card) | _describe(loss)


def export_mobile_into(name: str, path: Path) -> dict[str, object]:
    """Write a model as a program for ExecuTorch with its manifest, and say what was written."""
    model, card = load_weights(name)
    return write_export(path, export_mobile(model, card), card)


def simulate_windows(card: Card) -> tuple[Windows, list[str]]:
    """Give windows of people who do not exist, prepared as a model wants them, and whose they are.

    They say what a variant costs; how good a model is they do not say.
    """
    preparation = Preparation.of(card)
    parts, people = [], []
    for index in range(_WEARERS):
        worn = simulate(draw_person(index, seed=1), Scene(duration_s=_WEARING_S)).recording
        windows = lay_grid(bring_to(worn, card.rate_hz), preparation).windows
        parts.append(keep_axes(windows, card.axes))
        people += [str(index)] * len(windows)
    return np.concatenate(parts), people


def _export_windows(name: str) -> tuple[bytes, Card]:
    """Give a model as ONNX with its card: as it lies there already, or made from weights."""
    if Path(name).suffix == ".safetensors":
        model, card = load_weights(name)
        return export(model, card), card
    exported = read_model(find_model(name))
    return exported, Embedder(exported).card


def _describe(loss: VariantLoss) -> dict[str, object]:
    facts: dict[str, object] = {
        "measured_on": f"windows of {_WEARERS} simulated people, all pairs",
        "bytes_before": loss.bytes_before,
        "mean_cosine": loss.mean_cosine,
        "least_cosine": loss.least_cosine,
    }
    if loss.before is not None and loss.after is not None:
        before, after = loss.before.rate, loss.after.rate
        facts |= {"equal_error_before": before, "equal_error_after": after}
        facts["equal_error_rise"] = after - before
    return facts
