from dataclasses import replace

from acclock.live.answers import Reason, WindowAnswer
from acclock.live.events import SessionEvent, SessionStatus
from acclock.live.session_state import SessionState
from acclock.monitor.publisher import EventPublisher

LOCKED = SessionState(
    at_s=0.0,
    state="locked",
    reason=Reason.UNOPENED,
    answer=WindowAnswer(),
    confidence="low",
    confirmed=False,
    lockout_s=0.0,
)
OPEN = replace(LOCKED, state="unlocked", reason=Reason.USER, confidence="high", confirmed=True)


class Ears:
    def __init__(self) -> None:
        self.events: list[SessionEvent] = []
        self.statuses: list[SessionStatus] = []

    def notify(self, event: SessionEvent) -> None:
        self.events.append(event)

    def refresh(self, status: SessionStatus) -> None:
        self.statuses.append(status)


def publisher(ears: Ears) -> EventPublisher:
    return EventPublisher([ears], person="anna", device="ear")


def test_events_are_numbered_and_end_locked() -> None:
    ears = Ears()
    told = publisher(ears)

    told.start(LOCKED)
    told.hear(replace(OPEN, at_s=1.0))
    told.stop("the monitor has failed")

    assert [(event.kind, event.number) for event in ears.events] == [
        ("started", 1),
        ("unlocked", 2),
        ("locked", 3),
        ("stopped", 4),
    ]
    assert ears.events[-1].status.reason == "the monitor has failed"
    assert {event.status.state for event in ears.events[2:]} == {"locked"}


def test_trouble_with_an_output_is_an_event_of_its_own() -> None:
    ears = Ears()
    told = publisher(ears)
    told.complain("nobody is there yet")
    told.start(LOCKED)

    told.complain("on-lock:door: door ended with status 1")
    told.stop("over")
    told.complain("it is over")

    assert [event.kind for event in ears.events] == ["started", "trouble", "stopped"]
    assert ears.events[1].note == "on-lock:door: door ended with status 1"
    assert ears.events[1].status.reason == ears.events[0].status.reason


def test_nothing_is_told_after_the_end() -> None:
    ears = Ears()
    told = publisher(ears)
    told.start(LOCKED)
    told.stop("over")
    before = list(ears.events)

    told.hear(replace(OPEN, at_s=5.0))
    told.stop("over again")

    assert ears.events == before
    assert ears.statuses == []


def test_refreshes_are_spaced_but_a_change_never_waits() -> None:
    ears = Ears()
    told = publisher(ears)
    told.start(LOCKED)

    for tenth in range(20):
        told.hear(replace(LOCKED, at_s=tenth / 10))
    told.hear(replace(OPEN, at_s=1.91))

    assert len(ears.statuses) == 8
    assert ears.statuses[-1].state == "unlocked"


def test_every_run_has_a_name_of_its_own() -> None:
    first, second = Ears(), Ears()

    publisher(first).start(LOCKED)
    publisher(second).start(LOCKED)

    assert first.events[0].status.session != second.events[0].status.session
