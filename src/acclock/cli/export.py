"""``acclock export``: trained weights in, a file that runs without torch out."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.extras import needing
from acclock.cli.show import JsonFlag, show
from acclock.embedding.card import Precision
from acclock.errors import ConfigError


def export(
    model: Annotated[str, typer.Argument(help="Weights (.safetensors), or a shipped model.")],
    *,
    onnx: Annotated[Path | None, typer.Option(help="The ONNX file to write.")] = None,
    executorch: Annotated[Path | None, typer.Option(help="The .pte program to write.")] = None,
    raw: Annotated[
        bool, typer.Option(help="Read raw acceleration, the preparation inside; ONNX only.")
    ] = False,
    precision: Annotated[Precision, typer.Option(help="Of the weights; ONNX only.")] = "float32",
    as_json: JsonFlag = False,
) -> None:
    """Write MODEL as ONNX or for ExecuTorch: windows to embeddings, or raw acceleration."""
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.world.exports import export_into, export_mobile_into

    if onnx is not None and executorch is None:
        show(export_into(model, onnx, raw=raw, precision=precision), as_json=as_json)
    elif executorch is not None and onnx is None and not raw and precision == "float32":
        with needing("executorch"):
            facts = export_mobile_into(model, executorch)
        show(facts, as_json=as_json)
    else:
        raise ConfigError("an export is one file: --onnx OUT, or --executorch OUT without more")
