"""Calls that may never return, kept away from everything that must."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


async def call_aside(function: Callable[[], Result]) -> Result:
    """Give the result of a blocking call, made in a thread that nobody waits for at the end.

    A pool's threads are waited for at exit, and a full pipe or a lost disk can block one for ever.
    """
    answer: Future[Result] = Future()
    answer.set_running_or_notify_cancel()  # a caller that gives up does not disturb the thread

    def work() -> None:
        try:
            answer.set_result(function())
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(answer)
