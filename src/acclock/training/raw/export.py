"""A model for raw acceleration, exported and compared with the pipeline."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import onnx
import onnxruntime
import torch

from acclock.denoising.sporadic import Reference
from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.pipeline import Preparation, make_windows
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.batches import cut_context, keep_axes
from acclock.training.export import embed_eagerly, forget_sources, quietly
from acclock.training.grid import bring_to
from acclock.training.raw.preparations import QUALITIES, RawModel
from acclock.values import FloatArray

_ROUNDS = 2
_WALKS = 40
_WEARERS = 10
_WEARING_S = 26.0


class RawAnswer(NamedTuple):
    """What a file says about some contexts."""

    embeddings: FloatArray
    qualities: FloatArray
    references: FloatArray | None
    """To be handed over with the next contexts of the same wearers, if the file remembers."""


class RawRunner:
    """An exported file, ready to be asked."""

    def __init__(self, model: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )

    def ask(self, contexts: FloatArray, references: FloatArray | None = None) -> RawAnswer:
        """Hand over contexts, with what the file said to remember: nothing at the beginning."""
        inputs = {"contexts": contexts.astype(np.float32)}
        for remembered in self._session.get_inputs()[1:]:
            nothing = np.zeros((len(contexts), *remembered.shape[1:]))
            known = nothing if references is None else references
            inputs[remembered.name] = known.astype(np.float32)
        outputs = [np.asarray(told, np.float64) for told in self._session.run(None, inputs)]
        return RawAnswer(outputs[0], outputs[1], outputs[2] if len(outputs) > 2 else None)


def measure_difference(exported: bytes, model: EmbeddingModel, card: Card) -> float:
    """Give how far the embeddings of a file lie from those of the pipeline and the model."""
    runner, preparation = RawRunner(exported), Preparation.of(card)
    references: FloatArray | None = None
    known: Reference | None = None
    worst = 0.0
    for contexts in draw_contexts(preparation):
        answer = runner.ask(contexts, references)
        windows, known = make_windows(contexts, preparation, known)
        expected = embed_eagerly(model, keep_axes(windows.astype(np.float32), card.axes))
        worst = max(worst, float(np.abs(answer.embeddings - expected).max()))
        references = answer.references
    return worst


def draw_contexts(preparation: Preparation) -> Iterator[FloatArray]:
    """Give contexts of simulated wearers and of nothing but chance, and then what came after."""
    rate_hz, length = preparation.rate_hz, preparation.config.context_length
    step = preparation.config.window_length
    scene = Scene(duration_s=_WEARING_S)
    worn = [
        bring_to(simulate(draw_person(index, seed=2), scene).recording, rate_hz)
        for index in range(_WEARERS)
    ]
    shape = (_WALKS, 3, length + step)
    walks = 9.8 + np.random.default_rng(0).normal(0.0, 0.01, shape).cumsum(axis=-1)
    for end in np.linspace(length, length + step, _ROUNDS).astype(int):
        hearts = np.stack([cut_context(recording, end, length)[0] for recording in worn])
        whole = np.concatenate([hearts, walks[..., end - length : end]])
        # The file hears numbers of single precision, so the pipeline hears the same.
        yield whole.astype(np.float32).astype(np.float64)


RAW_CARD_KEY = "acclock.raw-card"
"""Another name than that of other models: who reads prepared windows must not take this file."""
PARITY_LIMIT = 1e-4
"""On embeddings: the band-pass is taken with 32 bits here and with 64 in the pipeline."""


def export_raw(model: EmbeddingModel, card: Card) -> bytes:
    """Give the model as ONNX, raw context to unit embedding and quality, with its card inside.

    The preparation that the card names is part of the file. What it remembers from one window
    to the next goes out as ``next_references`` and comes in again as ``references``. The file is
    run on a hundred contexts beside the pipeline and the model itself; where the embeddings
    differ by 1e-4 or more it is refused.
    """
    exported = _convert(RawModel(model, card).eval(), card)
    difference = measure_difference(exported, model, card)
    if not difference < PARITY_LIMIT:
        raise ModelError(
            f"the exported model differs from the pipeline by {difference:.1e};"
            f" this needs less than {PARITY_LIMIT:.0e}"
        )
    return exported


def _convert(model: RawModel, card: Card) -> bytes:
    example = model.make_example(batch=2)  # of one, the exporter would take it for a constant
    with quietly():
        program = torch.onnx.export(
            model,
            example,
            input_names=["contexts", "references"][: len(example)],
            output_names=["embeddings", "qualities", "next_references"][: 1 + len(example)],
            dynamic_shapes=tuple({0: torch.export.Dim("batch")} for _ in example),
            external_data=False,
            verbose=False,
        )
    if program is None:
        raise ModelError("the exporter gave nothing back")
    network: onnx.ModelProto = program.model_proto
    forget_sources(network.graph)
    network.metadata_props.add(key=RAW_CARD_KEY, value=card.to_json())
    network.metadata_props.add(key="acclock.qualities", value=",".join(QUALITIES))
    return bytes(network.SerializeToString())
