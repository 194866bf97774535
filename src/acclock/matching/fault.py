"""What can be wrong with a window, and what the wearer can do about it."""

from enum import StrEnum
from typing import NoReturn

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


class Fault(StrEnum):
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
        return self in (Fault.GAP, Fault.SILENCE, Fault.ABSENCE)

    @property
    def advice(self) -> str:
        """What the wearer hears about it."""
        return _ADVICE[self.value]
