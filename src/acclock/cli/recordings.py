"""``acclock info``, ``plot``, ``denoise`` and ``simulate``: recordings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress

from acclock.cli.show import JsonFlag, show
from acclock.denoising.beats import average_beat, find_beats
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.fiducials import find_fiducials
from acclock.denoising.heart_rate import SHORTEST_S, Heartbeat, clearest_heartbeat
from acclock.errors import ConfigError, TooShortError, UnwritableError
from acclock.pipeline import Preparation, PreparationName, trace
from acclock.plots.recordings import draw_recording, draw_trace
from acclock.recordings import (
    DatasetEntry,
    Reading,
    Unit,
    holds_many,
    inspect,
    open_dataset,
    read,
    write,
)
from acclock.recordings.simulated import SimulatedCohort, write_cohort, write_session
from acclock.simulation import Condition, Device, Environment, Movement, Music, Posture, Scene

Fiducials = Annotated[bool, typer.Option(help="Also find the points H to N of the average beat.")]


def info(
    file: Annotated[str, typer.Argument(help="A recording, or a data set as a folder or zip.")],
    *,
    unit: Annotated[Unit | None, typer.Option(help="The unit, where it cannot be told.")] = None,
    fiducials: Fiducials = False,
    as_json: JsonFlag = False,
) -> None:
    """Say what FILE is: format, rate, unit, gaps, heart rate, and how clear the heartbeat is."""
    if holds_many(file):
        show(_describe_dataset(file), as_json=as_json, title=file)
        return
    reading = inspect(file, unit=unit)
    facts = _describe(reading) | _describe_heartbeat(reading, fiducials=fiducials)
    show(facts, as_json=as_json, title=file)


def _describe_dataset(path: str) -> dict[str, object]:
    dataset = open_dataset(path)
    entries = list(dataset)
    return {
        "format": dataset.name,
        "people": len(dataset.people),
        "recordings": len(entries),
        "people_on_several_days": _count_on_several_days(entries),
        "devices": len({entry.device for entry in entries if entry.device}),
        "first_recording": f"{path}::{entries[0].name}",
    }


def _describe(reading: Reading) -> dict[str, object]:
    recording = reading.recording
    return {
        "format": reading.format,
        "person": recording.person,
        "session": recording.session,
        "device": recording.device,
        "start": recording.start.isoformat() if recording.start else None,
        "duration_s": round(recording.duration_s, 2),
        "rate_hz": recording.rate_hz,
        "native_rate_hz": round(reading.native_rate_hz, 2),
        "unit": reading.unit,
        "gravity": "included" if reading.gravity else "removed",
        "missing_share": round(recording.missing_share, 4),
        "gaps": [
            {"start_s": round(gap.start_s, 2), "length_s": round(gap.length_s, 2)}
            for gap in reading.gaps
        ],
        "labels": dict(recording.labels),
        "notes": list(reading.notes),
    }


def _describe_heartbeat(reading: Reading, *, fiducials: bool) -> dict[str, object]:
    try:
        heartbeat = clearest_heartbeat(reading.recording)
    except TooShortError:
        return {"heartbeat": f"cannot be read from less than {SHORTEST_S:g} s without a gap"}
    rate = heartbeat.rate
    facts: dict[str, object] = {
        "heart_rate_bpm": round(rate.bpm, 1) if rate.clear else None,
        "heartbeat_is_clear": rate.clear,
        "clarity": round(rate.clarity, 2),
        "clearest_axis": heartbeat.axis,
    }
    return facts | (_describe_points(heartbeat, reading.recording.rate_hz) if fiducials else {})


def _describe_points(heartbeat: Heartbeat, rate_hz: float) -> dict[str, object]:
    beats_s = find_beats(heartbeat.signal, rate_hz)
    if not heartbeat.rate.clear or not beats_s.size:
        return {"fiducials": "no average beat could be formed"}
    beat = average_beat(heartbeat.signal, beats_s, rate_hz)
    points = find_fiducials(beat).points
    return {
        "averaged_beats": beat.count,
        "fiducials": [
            {"name": name, "after_j_ms": round(at.offset_ms, 1), "m_s2": round(at.amplitude, 4)}
            for name, at in points.items()
            if at is not None
        ],
    }


def _count_on_several_days(entries: Sequence[DatasetEntry]) -> int:
    days = {(entry.person, entry.day) for entry in entries if entry.day}
    return sum(count > 1 for count in Counter(person for person, _ in days).values())


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


def simulate(
    out: Annotated[Path, typer.Argument(help="A new .npz file, or a new folder for several.")],
    *,
    people: Annotated[int, typer.Option(min=1, help="How many people.")] = 1,
    sessions: Annotated[int, typer.Option(min=1, help="How often each puts it on.")] = 1,
    minutes: Annotated[float, typer.Option(help="Length of each recording.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same people.")] = 0,
    movement: Annotated[Movement, typer.Option()] = "still",
    posture: Annotated[Posture, typer.Option()] = "sitting",
    device: Annotated[Device, typer.Option()] = "prototype",
    music: Annotated[Music, typer.Option()] = "off",
    environment: Annotated[Environment, typer.Option()] = "classroom",
    condition: Annotated[Condition, typer.Option(help="State of the heart.")] = "healthy",
    week: Annotated[float, typer.Option(help="Weeks since the first day.")] = 0.0,
    angle: Annotated[float, typer.Option(help="Turn of the earphone, 0-90 degrees.")] = 0.0,
    packet_loss: Annotated[float, typer.Option(help="Share of samples lost, 0-1.")] = 0.0,
    removed_at: Annotated[float | None, typer.Option(help="Taken out after seconds.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write recordings of simulated wearers, each with its clean truth and beat times beside it."""
    scene = Scene(
        duration_s=60.0 * minutes,
        movement=movement,
        posture=posture,
        device=device,
        music=music,
        environment=environment,
        week=week,
        angle_deg=angle,
        packet_loss=packet_loss,
        removed_at_s=removed_at,
    )
    cohort = SimulatedCohort(
        scene=scene, people=people, sessions=sessions, condition=condition, seed=seed
    )
    written = _write(cohort, out, quiet=as_json)
    show({"written": [str(path) for path in written]}, as_json=as_json)


def _write(cohort: SimulatedCohort, out: Path, *, quiet: bool) -> list[Path]:
    if out.suffix != ".npz":
        with Progress(disable=quiet, transient=True) as progress:
            task = progress.add_task("simulating", total=len(cohort.members()))
            return write_cohort(cohort, out, on_written=lambda: progress.advance(task))
    if len(cohort.members()) > 1:
        raise UnwritableError(f"{out} is one file; several recordings need a folder")
    if out.exists():
        raise UnwritableError(f"{out} is already there; simulate into a new file")
    write_session(cohort, 0, 0, out)
    return [out]
