import io
from datetime import UTC, datetime

from rich.console import Console

from acclock.cli.monitor import LiveView
from acclock.live.events import SessionEvent, SessionStatus

STATUS = SessionStatus(
    session="s",
    person="anna[red]\x1b[2J",
    device="simulator",
    at=datetime(2026, 1, 5, 12, tzinfo=UTC),
    state="unlocked",
    decision="accept",
    reason="the heartbeat is the user's",
    confidence="high",
    heart_rate_bpm=64.2,
    clarity=0.5,
)


def test_the_view_says_how_it_stands_and_what_happened() -> None:
    console = Console(file=io.StringIO(), width=100, record=True)
    view = LiveView(console, lambda: {"missing": 7, "late": 0})
    view.notify(SessionEvent(kind="unlocked", number=1, status=STATUS))
    view.refresh(STATUS)
    view.report("mqtt://host: did not answer")

    console.print(view.draw())
    shown = console.export_text()

    for words in ("UNLOCKED", "the heartbeat is the user's", "64 bpm", "50%", "missing 7", "high"):
        assert words in shown
    assert "did not answer" in shown
    assert "late" not in shown
    assert "anna[red]" in shown  # names are neither markup nor control characters
    assert "\x1b" not in shown
