"""What took too long on its way is not told as if it were fresh."""

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from acclock.service.api.streams import _pass_on
from acclock.service.streams.connection import FrameReader
from acclock.service.streams.snapshots import SessionSnapshot

if TYPE_CHECKING:
    from tests.service.conftest import Running


def test_a_decision_that_was_late_on_its_way_is_told_as_stale(running: "Running") -> None:
    told: list[dict[str, Any]] = []
    metrics = running.service.metrics
    connection: Any = SimpleNamespace(intake=FrameReader(metrics), say=told.append)
    caller: Any = SimpleNamespace(role="operator")
    opened = SessionSnapshot(
        session="s",
        person="p",
        name="anna",
        device="d",
        at=0.0,
        state="unlocked",
        decision="accept",
    )

    for late_s in (0.2, 1.2):
        news = [{"type": "decision", "heard_s": time.monotonic() - late_s}]
        _pass_on(running.service, connection, caller, opened, news, traced=False)

    assert [(one["state"], one["decision"]) for one in told] == [
        ("unlocked", "accept"),
        ("locked", "no_signal"),
    ]
    assert metrics.counted("shed", "told late") == 1
