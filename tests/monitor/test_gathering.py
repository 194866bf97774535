import numpy as np
import pytest

from acclock.live.answers import Reason, WindowAnswer
from acclock.live.session_state import SessionState
from acclock.monitor.monitor import MOST, SUSPECT_S, CollectedWindows, collect_window, ripen

WINDOW = np.array([1.0, 0.0])


def session_state(
    at_s: float, *, unlocked: bool = True, confirmed: bool = True, reason: Reason = Reason.USER
) -> SessionState:
    return SessionState(
        at_s=at_s,
        state="unlocked" if unlocked else "locked",
        reason=reason,
        answer=WindowAnswer(),
        confidence="high" if unlocked else "low",
        confirmed=confirmed and unlocked,
        lockout_s=0.0,
    )


def wear(seconds: int, gathering: CollectedWindows | None = None) -> CollectedWindows:
    """Hear an open session twice a second."""
    gathered = gathering or CollectedWindows()
    for at_s in np.arange(0.0, seconds, 0.5):
        now = session_state(float(at_s))
        gathered = ripen(collect_window(gathered, now, WINDOW), now)
    return gathered


@pytest.mark.parametrize(
    "now",
    [session_state(9.0, unlocked=False), session_state(9.0, confirmed=False)],
    ids=["locked", "claim"],
)
def test_nothing_is_gathered_of_a_session_that_is_locked_or_only_granted(now: SessionState) -> None:
    assert collect_window(CollectedWindows(), now, WINDOW).fresh == ()


def test_windows_do_not_overlap_and_ripen_after_a_while() -> None:
    gathered = wear(100)

    heard = len(gathered.fresh) + len(gathered.ripe)
    assert heard == 25
    assert len(gathered.fresh) == SUSPECT_S / 4


@pytest.mark.parametrize("reason", [Reason.STRANGER, Reason.REMOVED, Reason.STALLED])
def test_the_last_minute_before_any_lock_is_not_learned_from(reason: Reason) -> None:
    gathered = wear(100)

    after = ripen(gathered, session_state(100.5, unlocked=False, reason=reason))

    assert after.fresh == ()
    assert len(after.ripe) == len(gathered.ripe) == 10


def test_memory_is_bounded() -> None:
    assert len(wear(3600).ripe) <= MOST
