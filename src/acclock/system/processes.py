"""Processes that work side by side and leave together."""

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Give so many processes. When the caller leaves early, what was not begun is not done.

    Ctrl-C in a terminal reaches every process of a program; here only the caller is to hear it,
    since each of the others would print a traceback of its own.
    """
    pool = ProcessPoolExecutor(count, initializer=_ignore_interrupts)
    try:
        _launch(pool)
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _launch(pool: ProcessPoolExecutor) -> None:
    """Start the processes; an interrupt meanwhile, by which none is to be born, comes after."""
    if current_thread() is not main_thread():  # no other hears interrupts
        pool.submit(_ignore_interrupts)
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        pool.submit(_ignore_interrupts)
    finally:
        signal.signal(signal.SIGINT, before)
    for number in heard:
        signal.raise_signal(number)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
