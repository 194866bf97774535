"""Bars that show long work, and commands that need more than the runtime."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from acclock.errors import MissingExtraError

if TYPE_CHECKING:
    from acclock.training.checkpoint import Report


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn an import that fails for want of a package into a sentence that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        if package == "acclock":
            raise
        raise MissingExtraError(package=package, extra=extra) from error


class Bars:
    """Bars on standard error that appear with the first word about a part, and stay."""

    def __init__(self, *, quiet: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=quiet,
            transient=True,
        )
        self._tasks: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def work(self, what: str, done: int, total: int) -> None:
        """Show how much of some work is done."""
        self._show(what, what, done, total)

    def epoch(self, run: str, report: "Report", done: int, total: int) -> None:
        """Show an epoch with its loss and its error."""
        error = "" if report.error is None else f", equal error {report.error:.1%}"
        self._show(run, f"{run}: {report.stage}, loss {report.loss:.2f}{error}", done, total)

    def _show(self, key: str, text: str, done: int, total: int) -> None:
        if key not in self._tasks:
            self._tasks[key] = self._progress.add_task(text)
        self._progress.update(
            self._progress.task_ids[self._tasks[key]], description=text, completed=done, total=total
        )
