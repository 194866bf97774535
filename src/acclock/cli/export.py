"""``acclock export``: trained weights in, a file that runs without torch out."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.extras import needing
from acclock.cli.show import JsonFlag, show
from acclock.embedding.card import Precision


def export(
    model: Annotated[str, typer.Argument(help="Weights (.safetensors), or a shipped model.")],
    *,
    onnx: Annotated[Path, typer.Option(help="The file to write.")],
    raw: Annotated[bool, typer.Option(help="Read raw acceleration, the filter inside.")] = False,
    precision: Annotated[Precision, typer.Option(help="Of the weights.")] = "float32",
    as_json: JsonFlag = False,
) -> None:
    """Write MODEL as ONNX: prepared windows to embeddings, or raw acceleration with --raw."""
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.world.exports import export_into

    show(export_into(model, onnx, raw=raw, precision=precision), as_json=as_json)
