import os
import signal
import time

import pytest

from acclock.system.processes import processes


def test_only_the_caller_hears_an_interrupt() -> None:
    with processes(2) as pool:
        waiting = [pool.submit(time.sleep, 0.5) for _ in range(2)]
        for child in list(pool._processes):
            os.kill(child, signal.SIGINT)

        assert [one.result() for one in waiting] == [None, None]


def test_interrupts_are_heard_as_before_once_the_processes_run() -> None:
    before = signal.getsignal(signal.SIGINT)

    with processes(1):
        assert signal.getsignal(signal.SIGINT) is before


def leave_early() -> None:
    with processes(1) as pool:
        for _ in range(100):
            pool.submit(time.sleep, 0.2)
        raise KeyboardInterrupt


def test_what_was_not_begun_is_not_done_when_the_caller_leaves() -> None:
    begun = time.monotonic()

    with pytest.raises(KeyboardInterrupt):
        leave_early()

    assert time.monotonic() - begun < 10.0
