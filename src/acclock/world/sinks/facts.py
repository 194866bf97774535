"""A status in plain values, fit for JSON, an environment and a terminal."""

import json
import math

from acclock.session.events import Event, Status

_LONGEST = 200


def printable(text: str) -> str:
    r"""Give a text without control characters and not too long, whoever wrote it.

    >>> printable("anna\x1b[2J\n")
    'anna�[2J�'
    """
    return "".join(c if c.isprintable() else "�" for c in text[:_LONGEST])


def status_facts(status: Status) -> dict[str, object]:
    """Give how a session stands, as values that JSON knows."""
    rate = status.heart_rate_bpm
    return {
        "session": printable(status.session),
        "person": printable(status.person),
        "device": printable(status.device),
        "at": status.at.isoformat(timespec="milliseconds"),
        "state": status.state,
        "decision": status.decision,
        "reason": printable(status.reason),
        "confidence": status.confidence,
        "heart_rate_bpm": round(rate, 1) if rate is not None and math.isfinite(rate) else None,
        "clarity": round(status.clarity, 3) if math.isfinite(status.clarity) else 0.0,
    }


def event_facts(event: Event) -> dict[str, object]:
    """Give an event, as values that JSON knows."""
    note = {"note": printable(event.note)} if event.note else {}
    return {"event": event.kind, "number": event.number} | status_facts(event.status) | note


def as_json(facts: dict[str, object]) -> str:
    """Give facts as one line of plain ASCII."""
    return json.dumps(facts, allow_nan=False, separators=(",", ":"))
