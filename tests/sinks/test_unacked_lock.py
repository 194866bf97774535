from typing import TYPE_CHECKING

import pytest

from acclock.live.events import Kind
from acclock.sinks.worker import UnackedLock, settle

if TYPE_CHECKING:
    from tests.sinks.conftest import News


@pytest.mark.parametrize("kind", ["locked", "lockout", "stopped"])
def test_a_lock_that_failed_is_owed_ever_more_rarely(news: "News", kind: Kind) -> None:
    unacked, waits = UnackedLock(), []
    for _ in range(8):
        unacked = settle(unacked, news(kind), failed=True, now_s=100.0)
        waits.append(unacked.due_s - 100.0)

    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("kind", "failed", "owed"),
    [
        ("locked", False, False),
        ("unlocked", False, False),
        ("unlocked", True, False),
        ("confidence", False, False),
        ("started", False, True),
        ("trouble", False, True),
        ("trouble", True, True),
        ("stopped", True, True),
    ],
)
def test_what_ends_a_debt(news: "News", kind: Kind, failed: bool, owed: bool) -> None:
    before = settle(UnackedLock(), news("locked"), failed=True, now_s=0.0)

    after = settle(before, news(kind), failed=failed, now_s=1.0)

    assert (after.event is not None) is owed
