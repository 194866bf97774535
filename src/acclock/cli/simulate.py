"""``acclock simulate``: recordings of people who do not exist."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from acclock.cli.show import JsonFlag, show
from acclock.errors import UnwritableError
from acclock.simulation import Condition, Device, Environment, Movement, Music, Posture, Scene
from acclock.world.simulations import Cohort, write_cohort, write_session


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
    cohort = Cohort(scene=scene, people=people, sessions=sessions, condition=condition, seed=seed)
    written = _write(cohort, out, quiet=as_json)
    show({"written": [str(path) for path in written]}, as_json=as_json)


def _write(cohort: Cohort, out: Path, *, quiet: bool) -> list[Path]:
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
