"""The live terminal view of a session."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from acclock.matching.verdict import Confidence
from acclock.session.events import Event, Status
from acclock.world.sinks.facts import printable
from acclock.world.sinks.sink import state_after

_LAST = 6
_BAR: dict[Confidence, int] = {"low": 1, "medium": 2, "high": 3}
_WIDTH = 24


class LiveView:
    """Shows how a session stands; use it with ``with``.

    ``count`` gives what went wrong with the samples, by name: it is asked at every redraw.
    """

    def __init__(self, console: Console, count: Callable[[], Mapping[str, int]]) -> None:
        self._count = count
        self._status: Status | None = None
        self._events: tuple[str, ...] = ()  # replaced and not changed: another thread draws
        self._trouble = ""
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self.draw)

    def tell(self, event: Event) -> None:
        self._status = event.status
        mark = "●" if state_after(event) == "unlocked" else "○"
        at = event.status.at.astimezone().strftime("%H:%M:%S")
        line = f"{at}  {mark} {event.kind:<10}  {printable(event.note or event.status.reason)}"
        self._events = (*self._events, line)[-_LAST:]

    def refresh(self, status: Status) -> None:
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


def _describe(status: Status, counts: Mapping[str, int]) -> Table:
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
