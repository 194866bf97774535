"""Windows of the user, gathered while their session is open, for the template to learn from."""

from dataclasses import dataclass, replace

from acclock.session.evidence import WINDOW_S
from acclock.session.standing import Standing
from acclock.values import FloatArray

SUSPECT_S = 60.0
"""So long before a session ends, somebody else may have worn the earphone unnoticed."""
MOST = 256
"""When there are more, every other one goes: what is left spreads over all of the time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathering:
    """What was heard since the template last changed. It is never written anywhere."""

    fresh: tuple[tuple[float, FloatArray], ...] = ()
    """Windows of the session that is open, and when each was heard."""
    ripe: tuple[FloatArray, ...] = ()
    """Windows about which nobody will have second thoughts."""


def gather(gathering: Gathering, standing: Standing, embedding: FloatArray) -> Gathering:
    """Take a window, if the session is open, proven, and the window is no repetition.

    Good and poor windows count alike: whoever learns from them chooses (``matching.update``) or
    needs both (``matching.growth``).
    """
    last_s = gathering.fresh[-1][0] if gathering.fresh else float("-inf")
    if not (standing.unlocked and standing.confirmed) or standing.at_s - last_s < WINDOW_S:
        return gathering
    return replace(gathering, fresh=(*gathering.fresh, (standing.at_s, embedding)))


def ripen(gathering: Gathering, standing: Standing) -> Gathering:
    """Let time pass: what lies back far enough is ripe; a lock casts doubt on all the rest."""
    if standing.unlocked:
        aged = [window for at_s, window in gathering.fresh if standing.at_s - at_s >= SUSPECT_S]
        return Gathering(fresh=gathering.fresh[len(aged) :], ripe=_thin((*gathering.ripe, *aged)))
    return Gathering(ripe=gathering.ripe) if gathering.fresh else gathering


def _thin(windows: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    return windows if len(windows) <= MOST else windows[::2]
