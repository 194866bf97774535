"""A session's news in the words of identity providers: OpenID CAEP 1.0 security events."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

from acclock.live.events import SessionEvent
from acclock.sinks.sink import printable, state_after

CAEP = "https://schemas.openid.net/secevent/caep/event-type/"
NAMESPACE = "acclock-confidence"
"""Whose assurance levels these are: none, low, medium, high."""

Level = Literal["none", "low", "medium", "high"]
Risk = Literal["LOW", "MEDIUM", "HIGH"]
_LEVELS: tuple[Level, ...] = ("none", "low", "medium", "high")
_RISKS: tuple[Risk, ...] = ("LOW", "MEDIUM", "HIGH")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverState:
    """What the receiver was last told of the session."""

    assurance: Level = "none"
    risk: Risk = "LOW"

    def as_json(self) -> bytes:
        """Give it as it is kept between two runs."""
        return json.dumps(asdict(self)).encode("ascii")

    @classmethod
    def from_json(cls, kept: bytes) -> Self:
        """Give what was kept; what cannot be read counts as open, so that it is revoked."""
        if not kept:
            return cls()
        try:
            return cls(**json.loads(kept))
        except (ValueError, TypeError):
            return cls(assurance="high")

    def __post_init__(self) -> None:
        if self.assurance not in _LEVELS or self.risk not in _RISKS:
            raise ValueError(f"nobody stands at {self.assurance!r} and {self.risk!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Who says it, to whom, and by which name the receiver knows the person."""

    issuer: str
    audience: str
    subject: str | None = None
    """Stands for the person's name in AccLock when it is another at the receiver's."""


def react(
    receiver_state: ReceiverState, event: SessionEvent
) -> tuple[ReceiverState, dict[str, dict[str, Any]]]:
    """Give how things stand after an event, and what to say about it, by type of CAEP event."""
    now = replace(receiver_state, assurance=_assurance(event), risk=_risk(receiver_state, event))
    said: dict[str, dict[str, Any]] = {}
    if now.assurance == "none" and receiver_state.assurance != "none":
        said["session-revoked"] = {}
    elif now.assurance != receiver_state.assurance:
        said["assurance-level-change"] = _assurance_change(receiver_state, now)
    if now.risk != receiver_state.risk:
        said["risk-level-change"] = _risk_change(receiver_state, now)
    shared = _shared(event)
    return now, {kind: shared | own for kind, own in said.items()}


def claims(
    event: SessionEvent, kind: str, said: dict[str, Any], addresses: Addresses, *, issued_s: int
) -> dict[str, Any]:
    """Give the claims of one security event token (RFC 8417, with the subject of RFC 9493).

    Its ``jti`` follows from the event, so that one event never has two.
    """
    status = event.status
    number = f"{status.session}/{event.number}/{kind}/{addresses.audience}"
    return {
        "iss": addresses.issuer,
        "aud": addresses.audience,
        "iat": issued_s,
        "jti": hashlib.sha256(number.encode("utf-8", "replace")).hexdigest()[:32],
        "txn": printable(status.session),
        "sub_id": {
            "format": "iss_sub",
            "iss": addresses.issuer,
            "sub": addresses.subject or printable(status.person),
        },
        "events": {CAEP + kind: said},
    }


def _assurance(event: SessionEvent) -> Level:
    return "none" if state_after(event) == "locked" else event.status.confidence


def _risk(receiver_state: ReceiverState, event: SessionEvent) -> Risk:
    if event.kind == "lockout":
        return "HIGH"
    if event.kind == "unlocked":
        return "LOW"
    if (
        event.kind == "locked"
        and event.status.decision == "reject"
        and receiver_state.risk == "LOW"
    ):
        return "MEDIUM"
    return receiver_state.risk


def _shared(event: SessionEvent) -> dict[str, Any]:
    return {
        "event_timestamp": int(event.status.at.timestamp()),
        "initiating_entity": "user" if event.kind == "stopped" else "policy",
        "reason_admin": {"en": printable(event.status.reason) or event.kind},
    }


def _assurance_change(before: ReceiverState, now: ReceiverState) -> dict[str, Any]:
    risen = _LEVELS.index(now.assurance) > _LEVELS.index(before.assurance)
    return {
        "namespace": NAMESPACE,
        "current_level": now.assurance,
        "previous_level": before.assurance,
        "change_direction": "increase" if risen else "decrease",
    }


def _risk_change(before: ReceiverState, now: ReceiverState) -> dict[str, Any]:
    return {
        "principal": "USER",
        "current_level": now.risk,
        "previous_level": before.risk,
        "risk_reason": {
            "HIGH": "TOO_MANY_STRANGERS",
            "MEDIUM": "WORN_BY_A_STRANGER",
            "LOW": "WORN_BY_THE_USER",
        }[now.risk],
    }
