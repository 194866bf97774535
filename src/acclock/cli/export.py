"""``acclock export``: a model in, a file that runs without torch out."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.extras import needing
from acclock.cli.show import JsonFlag, show
from acclock.embedding.card import Precision
from acclock.errors import ConfigError


def export(
    model: Annotated[
        str, typer.Argument(help="A shipped model, or a file: .safetensors or .onnx.")
    ],
    *,
    onnx: Annotated[Path | None, typer.Option(help="The ONNX file to write.")] = None,
    executorch: Annotated[Path | None, typer.Option(help="The .pte program to write.")] = None,
    raw: Annotated[
        bool, typer.Option(help="Read raw acceleration, the preparation inside; ONNX only.")
    ] = False,
    precision: Annotated[Precision, typer.Option(help="Of the weights; ONNX only.")] = "float32",
    as_json: JsonFlag = False,
) -> None:
    """Write MODEL as ONNX or for ExecuTorch: windows to embeddings, or raw acceleration.

    Shipped models are copied, which needs no extra; all else is made by torch.
    """
    if onnx is not None and executorch is None:
        facts = _export_onnx(model, onnx, raw=raw, precision=precision)
    elif executorch is not None and onnx is None and not raw and precision == "float32":
        facts = _export_program(model, executorch)
    else:
        raise ConfigError("an export is one file: --onnx OUT, or --executorch OUT without more")
    show(facts, as_json=as_json)


def _export_onnx(model: str, path: Path, *, raw: bool, precision: Precision) -> dict[str, object]:
    # loads the model's runtime, which only commands that use it should
    from acclock.world.shipped_exports import copy_shipped

    copied = copy_shipped(model, path, raw=raw) if precision == "float32" else None
    if copied is not None:
        return copied
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.world.exports import export_into

    return export_into(model, path, raw=raw, precision=precision)


def _export_program(model: str, path: Path) -> dict[str, object]:
    with needing("train"):  # as above
        from acclock.world.exports import export_mobile_into

    with needing("executorch"):
        return export_mobile_into(model, path)
