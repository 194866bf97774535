"""The way of a letter from the spool to a receiver that may be away for a while."""

import asyncio
import contextlib
import json
import random
from collections.abc import Mapping

from acclock.errors import SinkError, VaultError
from acclock.world.sinks.daemons import call_aside
from acclock.world.sinks.facts import printable
from acclock.world.sinks.posting import Answer, post
from acclock.world.sinks.retry import Retry
from acclock.world.sinks.spool import Letter, Spool
from acclock.world.supervision import Supervisor

_REFUSED = frozenset({400, 405, 406, 410, 411, 413, 414, 415, 422})
"""The receiver understood and will never take it. Anything else may get better: it is retried."""
_TIMEOUT_S = 5.0


class Delivery:
    """Posts what is in a spool, in order, until each letter is confirmed or refused for good."""

    def __init__(self, url: str, spool: Spool, headers: Mapping[str, str], retry: Retry) -> None:
        self.trouble = ""
        self._url, self._spool, self._headers, self._retry = url, spool, dict(headers), retry
        self._news, self._done = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look into the spool now, whatever the wait after a failure."""
        self._done.clear()
        self._news.set()
        self.start()

    def start(self) -> None:
        """Begin, if it is not under way."""
        if self._task is None or self._task.done():
            supervisor = Supervisor(
                name="delivery", work=self._run, lock=self._done.clear, report=self._note
            )
            self._task = asyncio.create_task(supervisor.run())

    async def close(self, patience_s: float) -> None:
        """Give the last letters a moment; the next run sends what is left."""
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._done.wait(), patience_s)
            self._task.cancel()

    def _note(self, _: str, said: str) -> None:
        self.trouble = said

    async def _run(self) -> None:
        failures = 0
        while True:
            self._news.clear()
            failures = 0 if await self._empty_spool() else failures + 1
            if not failures and not self._news.is_set():
                self._done.set()
            wait_s = self._retry.wait_s(failures, random.random()) if failures else None  # noqa: S311 - no secret
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), wait_s)

    async def _empty_spool(self) -> bool:
        try:
            for letter in await call_aside(self._spool.letters):
                answer = await post(self._url, letter.body, self._headers, timeout_s=_TIMEOUT_S)
                await self._settle(letter, answer)
        except (SinkError, VaultError, OSError) as error:
            self.trouble = str(error)
            return False
        return True

    async def _settle(self, letter: Letter, answer: Answer) -> None:
        if 200 <= answer.code < 300:
            await call_aside(lambda: self._spool.confirm(letter))
        elif answer.code in _REFUSED:
            await call_aside(lambda: self._spool.refuse(letter))
            self.trouble = f"the receiver refused an event ({answer.code}): {_why(answer)}"
        else:
            raise SinkError(f"the receiver answered {answer.code}; the event is sent again later")


def _why(answer: Answer) -> str:
    try:
        said = json.loads(answer.text)
        return printable(str(said.get("description") or said.get("err")))
    except (ValueError, AttributeError):
        return "no reason was given"
