"""A sequential test over windows that overlap."""

from dataclasses import dataclass

WINDOW_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What has gathered for the user and against them, each since it was last nothing.

    >>> add(Evidence(), -4.0, step_s=1.0)
    Evidence(towards=0.0, against=1.0)
    """

    towards: float = 0.0
    against: float = 0.0


def add(evidence: Evidence, nats: float, *, step_s: float) -> Evidence:
    """Take the nats of one more window: two sums that never fall below zero (CUSUM).

    Windows of four seconds every half second share seven eighths of their samples: each counts
    by what is new in it, so that a second of heartbeat weighs the same at every step.
    """
    new = nats * step_s / WINDOW_S
    return Evidence(
        towards=max(0.0, evidence.towards + new), against=max(0.0, evidence.against - new)
    )
