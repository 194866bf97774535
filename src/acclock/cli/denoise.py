"""``acclock denoise``: acceleration in, heartbeat out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from acclock.cli.show import JsonFlag, show
from acclock.denoising.config import DenoiseConfig
from acclock.errors import ConfigError, UnwritableError
from acclock.pipeline import Preparation, PreparationName, trace
from acclock.world.files import read, write
from acclock.world.pictures import draw_trace

_RATES_HZ = (100.0, 75.0, 50.0, 25.0)


def denoise(
    file: Annotated[str, typer.Argument(help="A recording.")],
    out: Annotated[Path, typer.Argument(help="A new .npz file for the heartbeat.")],
    *,
    rate_hz: Annotated[float, typer.Option(help="Work at 100, 75, 50 or 25 Hz.")] = 100.0,
    preparation: Annotated[PreparationName, typer.Option(help="Which chain.")] = "two-stage",
    plot: Annotated[Path | None, typer.Option(help="Draw every stage into this picture.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Take the noise out of FILE by the paper's two stages and write what is left to OUT."""
    if preparation == "bandpass":
        raise ConfigError("the plain band-pass has no stages to show; choose two-stage or paper")
    if rate_hz not in _RATES_HZ:
        raise ConfigError(f"the stages work at 100, 75, 50 or 25 Hz, not at {rate_hz:g}")
    if out.exists() or out.suffix != ".npz":
        raise UnwritableError(f"OUT must be a new .npz file, not {out}")
    recording = read(file, rate_hz=rate_hz)
    stages = trace(recording, Preparation(name=preparation, rate_hz=rate_hz))
    count = stages.recovered.shape[-1]
    if plot is not None:
        draw_trace(stages, plot)
    heartbeat = replace(recording, samples=stages.recovered, received=recording.received[:count])
    write(heartbeat, out)
    periodic = [axis.periodic for window in stages.periodicity for axis in window]
    facts = {
        "written": str(out),
        "picture": str(plot) if plot else None,
        "retained_band": str(DenoiseConfig.at_rate(rate_hz).retained_band),
        "windows": len(stages.periodicity),
        "periodic_share": round(float(np.mean(periodic)), 3),
    }
    show(facts, as_json=as_json)
