"""A model for raw acceleration, turned into a file that needs nothing of AccLock around it."""

import numpy as np
import onnx
import onnxruntime
import torch

from acclock.embedding.card import Card
from acclock.errors import ModelError
from acclock.training.contexts import prepare_contexts
from acclock.training.drawing import keep_axes
from acclock.training.export import embed_eagerly, forget_sources
from acclock.training.leveling import LeveledModel
from acclock.training.quiet import quietly
from acclock.training.raw import QUALITIES, RawModel, find_linear_preparation
from acclock.values import FloatArray

RAW_CARD_KEY = "acclock.raw-card"
"""Another name than that of other models: who reads prepared windows must not take this file."""
PARITY_LIMIT = 1e-4
"""On embeddings: between 32 bits all the way here and 64 bits up to the window in the pipeline."""
_PARITY_CONTEXTS = 200


def export_raw(model: LeveledModel, card: Card) -> bytes:
    """Give the model as ONNX, raw context to unit embedding and quality, with its card inside.

    The file is run on two hundred contexts beside the pipeline and the model itself; where the
    embeddings differ by 1e-4 or more it is refused.
    """
    preparation = find_linear_preparation(card)
    shape = (_PARITY_CONTEXTS, 3, preparation.config.context_length)
    contexts = 9.8 + 0.1 * np.random.default_rng(0).standard_normal(shape).cumsum(axis=-1) / 10
    exported = _convert(RawModel(model, card).eval(), card, contexts)
    windows = prepare_contexts(contexts, np.ones((shape[0], shape[2]), dtype=bool), preparation)
    embeddings, _ = run_raw(exported, contexts)
    expected = embed_eagerly(model.eval(), keep_axes(windows, card.axes))
    difference = np.abs(embeddings - expected).max()
    if not difference < PARITY_LIMIT:
        raise ModelError(
            f"the exported model differs from the pipeline by {difference:.1e};"
            f" this needs less than {PARITY_LIMIT:.0e}"
        )
    return exported


def run_raw(model: bytes, contexts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Run an exported file as a phone would: contexts in, embeddings and qualities out."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    embeddings, qualities = session.run(None, {"contexts": contexts.astype(np.float32)})
    return np.asarray(embeddings, dtype=np.float64), np.asarray(qualities, dtype=np.float64)


def _convert(model: RawModel, card: Card, contexts: FloatArray) -> bytes:
    example = torch.from_numpy(contexts[:2].astype(np.float32))
    with quietly():
        program = torch.onnx.export(
            model,
            (example,),
            input_names=["contexts"],
            output_names=["embeddings", "qualities"],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
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
