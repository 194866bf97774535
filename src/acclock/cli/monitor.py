"""``acclock monitor``: a session that lives while its user wears the earphone."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from acclock.access.local_client import default_socket
from acclock.cli.access import Socket
from acclock.cli.vault import AskedModel, Database, Name, VaultFolder, open_recognizer
from acclock.live.events import SessionEvent, SessionStatus
from acclock.live.policies import policy_named
from acclock.matching.verdict import Confidence
from acclock.sinks.parsing import parse_sink
from acclock.sinks.sink import printable, state_after
from acclock.sources import Source, parse_source
from acclock.system.settings import home_folder

if TYPE_CHECKING:
    from acclock.monitor.monitor import Monitor

_LAST = 6
_BAR: dict[Confidence, int] = {"low": 1, "medium": 2, "high": 3}
_WIDTH = 24


class LiveView:
    """Shows how a session stands; use it with ``with``.

    ``count`` gives what went wrong with the samples, by name: it is asked at every redraw.
    """

    def __init__(self, console: Console, count: Callable[[], Mapping[str, int]]) -> None:
        self._count = count
        self._status: SessionStatus | None = None
        self._events: tuple[str, ...] = ()  # replaced and not changed: another thread draws
        self._trouble = ""
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self.draw)

    def notify(self, event: SessionEvent) -> None:
        self._status = event.status
        mark = "●" if state_after(event) == "unlocked" else "○"
        at = event.status.at.astimezone().strftime("%H:%M:%S")
        line = f"{at}  {mark} {event.kind:<10}  {printable(event.note or event.status.reason)}"
        self._events = (*self._events, line)[-_LAST:]

    def refresh(self, status: SessionStatus) -> None:
        self._status = status

    def report(self, trouble: str) -> None:
        """Show what an output did not take."""
        self._trouble = printable(trouble)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._live.stop()

    def draw(self) -> Panel:
        """Give the view as it is now."""
        if (status := self._status) is None:
            return Panel("…", title="AccLock")
        open_now = status.state == "unlocked"
        title = f"AccLock  {escape(printable(status.person))}  {escape(printable(status.device))}"
        past = Text("\n".join(self._events), style="dim")
        parts: list[RenderableType] = [_describe(status, self._count()), past]
        if self._trouble:
            parts.append(Text(self._trouble, style="yellow"))
        return Panel(
            Group(*parts), title=title, border_style="green" if open_now else "red", width=88
        )


def _describe(status: SessionStatus, counts: Mapping[str, int]) -> Table:
    rows = Table.grid(padding=(0, 2))
    style = "bold green" if status.state == "unlocked" else "bold red"
    rate = "–" if status.heart_rate_bpm is None else f"{status.heart_rate_bpm:.0f} bpm"
    confidence = _bar(_BAR[status.confidence] / len(_BAR) if status.state == "unlocked" else 0.0)
    lost = ", ".join(f"{name} {number}" for name, number in counts.items() if number) or "none"
    rows.add_row("state", Text(status.state.upper(), style=style))
    rows.add_row("because", Text(printable(status.reason)))
    rows.add_row("last window", Text(status.decision.replace("_", " ")))
    rows.add_row("heart rate", Text(rate))
    rows.add_row("signal", Text(f"{_bar(status.clarity)} {status.clarity:4.0%}"))
    rows.add_row("confidence", Text(f"{confidence} {status.confidence}"))
    rows.add_row("trouble", Text(lost))
    return rows


def _bar(share: float) -> str:
    """Draw a share of one.

    >>> _bar(0.5).count("█")
    12
    """
    full = round(min(max(share, 0.0), 1.0) * _WIDTH)
    return "█" * full + "░" * (_WIDTH - full)


class PolicyName(StrEnum):
    """How strict."""

    STRICT = "strict"
    BALANCED = "balanced"
    COMFORTABLE = "comfortable"


class EntryName(StrEnum):
    """What opens a session."""

    GRANT = "grant"
    HEARTBEAT = "heartbeat"


SourceText = Annotated[
    str,
    typer.Option(
        "--source",
        show_default=False,
        help="Where samples come from: openearable:ADDRESS, simulate:SCRIPT, replay:FILE ...",
    ),
]
Sinks = Annotated[
    list[str],
    typer.Option("--sink", help="An output, as jsonl:FILE, logind or mqtt://HOST; give many."),
]
Lockers = Annotated[list[str], typer.Option("--on-lock", help="A command that locks.")]
Unlockers = Annotated[list[str], typer.Option("--on-unlock", help="A command that unlocks.")]
Duration = Annotated[float, typer.Option("--for", min=0.1, help="Seconds until it stops.")]


def monitor(
    name: Name,
    *,
    source: SourceText = "",
    sink: Sinks = [],  # noqa: B006 - typer reads them, nobody changes them
    on_lock: Lockers = [],  # noqa: B006
    on_unlock: Unlockers = [],  # noqa: B006
    policy: Annotated[PolicyName, typer.Option(help="How strict.")] = PolicyName.BALANCED,
    entry: Annotated[EntryName, typer.Option(help="What opens it.")] = EntryName.GRANT,
    for_s: Duration = float("inf"),
    socket: Socket = None,
    model: AskedModel = None,
    vault: VaultFolder = None,
    database: Database = None,
) -> None:
    """Keep NAME's session open while their heartbeat is in the ear, and lock it when it is not.

    A grant opens it (`acclock grant NAME`). Events are shown live on a terminal, and are lines of
    JSON elsewhere. Exits 0 at its end, 130 when interrupted, 2 for an error: locked every time.
    """
    # loads the model's runtime and the database, which only commands that use them should
    from acclock.monitor.enrolled_user import EnrolledUser
    from acclock.monitor.runner import MonitorRunner

    heard, home = parse_source(source), vault or home_folder()
    outputs = [*sink, *(f"on-lock:{words}" for words in on_lock)]
    outputs += [f"on-unlock:{words}" for words in on_unlock]
    shown = sys.stdout.isatty()
    if not shown and "jsonl:-" not in outputs:
        outputs.append("jsonl:-")
    # a task that failed is reported in a sentence; its traceback is for who asks for logs
    logging.getLogger("acclock").addHandler(logging.NullHandler())
    recognizer = open_recognizer(vault, database, model)
    chosen, user = recognizer.model_of(name, asked=model), EnrolledUser(recognizer, name)
    chosen.model.card.require_sampled(heard.rate_hz)
    _complain(chosen.sentence)
    watched: list[Monitor] = []
    with ExitStack() as stack:
        view = LiveView(Console(), lambda: _count(watched, heard)) if shown else None
        post = MonitorRunner(
            user=user,
            source=heard,
            policy=policy_named(policy).opened_by(entry.value),
            sinks=[parse_sink(text, home=home) for text in outputs],
            listeners=[view] if view else [],
            home=home,
            socket=socket or default_socket(),
            report=view.report if view else _complain,
        )
        if view:
            stack.enter_context(view)
        caught = asyncio.run(post.keep(for_s=for_s, on_ready=watched.append))
    raise typer.Exit(130 if caught is signal.SIGINT else 0)


def _count(watched: list["Monitor"], source: Source) -> Mapping[str, int]:
    """Give what went wrong so far with samples, with whatever brings them, and with the tasks."""
    samples = asdict(watched[0].counts) if watched else {}
    samples.pop("accepted", None)
    failures = {
        f"failed {name}": times for one in watched for name, times in one.task_failures.items()
    }
    return samples | dict(source.faults) | failures


def _complain(trouble: str) -> None:
    print(f"acclock: {trouble}", file=sys.stderr)
