"""A model for raw acceleration, turned into a file that needs nothing of AccLock around it."""

import onnx
import torch

from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.export import forget_sources
from acclock.training.quiet import quietly
from acclock.training.raw.model import RawModel
from acclock.training.raw.parity import measure_difference
from acclock.training.raw.quality import QUALITIES

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
