"""Simulated people, written down as recordings with their truth beside them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from acclock.errors import ConfigError, UnwritableError
from acclock.recordings import write
from acclock.simulation import Condition, Scene, draw_person, simulate
from acclock.system.files import hidden_path
from acclock.system.processes import processes


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCohort:
    """Who is simulated, how often, in which scene."""

    scene: Scene
    people: int = 1
    sessions: int = 1
    condition: Condition = "healthy"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.people < 1 or self.sessions < 1:
            raise ConfigError(
                f"a cohort has at least one person and one session, "
                f"not {self.people} and {self.sessions}"
            )

    def members(self) -> list[tuple[int, int]]:
        """Every person with every session."""
        return list(product(range(self.people), range(self.sessions)))


def write_cohort(
    cohort: SimulatedCohort,
    folder: Path,
    *,
    workers: int = 2,
    on_written: Callable[[], object] = lambda: None,
) -> list[Path]:
    """Write ``person-000/session-0.npz`` and so on into a new folder: all of them, or none."""
    if folder.exists():
        raise UnwritableError(f"{folder} is already there; simulate into a new folder")
    if not folder.parent.is_dir():
        raise UnwritableError(f"{folder.parent} is not a folder to write into")
    with hidden_path(folder) as hidden:
        names = [f"person-{who:03d}/session-{when}.npz" for who, when in cohort.members()]
        jobs = [
            (cohort, who, when, hidden / name)
            for (who, when), name in zip(cohort.members(), names, strict=True)
        ]
        with processes(min(workers, len(jobs))) as pool:
            for _ in pool.map(_write_job, jobs):
                on_written()
        hidden.rename(folder)
    return [folder / name for name in names]


def write_session(cohort: SimulatedCohort, person: int, session: int, path: Path) -> None:
    """Simulate one session of one person and write it, the clean truth and the beats with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = draw_person(person, seed=cohort.seed, condition=cohort.condition)
    worn = simulate(drawn, replace(cohort.scene, session=session), seed=cohort.seed)
    write(worn.recording, path, {"truth": worn.truth, "beat_times_s": worn.beat_times_s})


def _write_job(job: tuple[SimulatedCohort, int, int, Path]) -> None:
    write_session(*job)
