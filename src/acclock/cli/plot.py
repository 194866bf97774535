"""``acclock plot``: a recording as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.denoising.heartbeat import clearest_heartbeat
from acclock.world.files import read
from acclock.world.pictures import draw_recording


def plot(
    file: Annotated[str, typer.Argument(help="A recording.")],
    *,
    out: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")],
    as_json: JsonFlag = False,
) -> None:
    """Draw FILE: waveform, heartbeat, spectrum and continuous wavelet picture."""
    recording = read(file)
    draw_recording(recording, clearest_heartbeat(recording), out)
    show({"picture": str(out)}, as_json=as_json)
