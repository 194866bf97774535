"""The answer to «is this the user?», and what can be wrong with a window."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NoReturn

from acclock.errors import ConfigError

_ADVICE = {
    "warm-up": "wait a moment",
    "gap": "samples are missing: is the earphone in reach?",
    "silence": "the sensor is silent",
    "saturation": "the sensor is overdriven: hold still",
    "absence": "the earphone is loose or not worn",
    "activity": "hold still",
    "event": "hold still",
}


class WindowFault(StrEnum):
    """Why a window is no good, in the words in which a window's quality is judged."""

    WARM_UP = "warm-up"
    GAP = "gap"
    SILENCE = "silence"
    SATURATION = "saturation"
    ABSENCE = "absence"
    ACTIVITY = "activity"
    EVENT = "event"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ConfigError(f"there is no fault {value!r}; there are {', '.join(cls)}")

    @property
    def silent(self) -> bool:
        """Whether nothing of a wearer was there, rather than something unclear."""
        return self in (WindowFault.GAP, WindowFault.SILENCE, WindowFault.ABSENCE)

    @property
    def advice(self) -> str:
        """What the wearer hears about it."""
        return _ADVICE[self.value]


Decision = Literal["accept", "reject", "uncertain", "no_signal"]
Confidence = Literal["low", "medium", "high"]

_MEDIUM_MARGIN, _HIGH_MARGIN = 0.5, 1.5
"""How many spreads of the user's own windows lie between distance and threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    r"""One answer about one or more windows.

    .. math:: \hat{Y} = \mathbb{I}(D < \tau)

    Paper: Sec. 6.1, Eq. (11) and Algorithm 1, line 18, where ``distance`` is :math:`D`,
    ``threshold`` is :math:`\tau` and ``accepted`` is :math:`\hat{Y}`.
    Ours: a window that is no good is neither the user's nor a stranger's (docs/decisions/0014).

    >>> Verdict(distance=0.4, threshold=0.5).accepted
    True
    >>> Verdict(distance=0.5, threshold=0.5).decision
    'reject'
    """

    distance: float
    threshold: float
    spread: float = math.nan
    """How much the user's own windows vary, in the unit of the distance."""
    windows: int = 1
    """How many good windows the distance is the mean of."""
    fault: WindowFault | None = None
    """What was wrong with the windows, when too few of them were good."""

    @property
    def accepted(self) -> bool:
        """Whether this is the user: strictly below the threshold; a NaN or a fault never is."""
        return self.fault is None and self.distance < self.threshold

    @property
    def decision(self) -> Decision:
        if self.fault is not None:
            return "no_signal" if self.fault.silent else "uncertain"
        if math.isnan(self.distance):
            return "uncertain"
        return "accept" if self.accepted else "reject"

    @property
    def reason(self) -> str:
        """Why, as a clause without any number that gives the template away."""
        if self.fault is not None:
            return self.fault.advice
        return {
            "accept": "the heartbeat is the user's",
            "reject": "the heartbeat is not the user's",
        }.get(self.decision, "the windows have no usable embedding")

    @property
    def confidence(self) -> Confidence:
        """How clear the answer is, in three steps: finer ones would give the distance away."""
        margin = abs(self.threshold - self.distance) / self.spread if self.spread > 0 else math.nan
        if self.fault is not None or not margin >= _MEDIUM_MARGIN:
            return "low"
        return "high" if margin >= _HIGH_MARGIN else "medium"

    def summary(self) -> dict[str, object]:
        """Give what anybody may hear."""
        return {
            "verified": self.accepted,
            "decision": self.decision,
            "reason": self.reason,
            "confidence": self.confidence,
        }

    def details(self) -> dict[str, object]:
        """Give the numbers too: for the local operator only, they give the template away."""
        numbers = {"distance": self.distance, "threshold": self.threshold, "windows": self.windows}
        return self.summary() | numbers

    def __bool__(self) -> NoReturn:
        raise TypeError("a Verdict is neither true nor false; ask `verdict.accepted`")
