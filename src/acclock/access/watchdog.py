"""A small process that locks when the monitor cannot."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from acclock.errors import ConfigError, SinkError

_GUARD = Path(__file__).with_name("guard.py")
_START_S = 10.0


class Watchdog:
    """Carries out the lock commands when the heartbeat stops; use it with ``with``.

    The monitor calls :meth:`beat` at every decision. Killed, it closes the pipe; stopped or hung,
    it is silent for ``patience_s``: both lock. Leaving the block says goodbye, which does not,
    unless it is left by an error.
    """

    def __init__(self, commands: Sequence[Sequence[str]], *, patience_s: float = 3.0) -> None:
        if not patience_s > 0:
            raise ConfigError(f"a watchdog needs some patience, not {patience_s} s")
        orders = {"commands": [list(words) for words in commands], "patience_s": patience_s}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own file, by its path
                [sys.executable, "-I", "-S", str(_GUARD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                cwd="/",
            )
        except OSError as error:
            raise SinkError(f"the watchdog cannot be started: {error}") from error
        self._pipe = cast("IO[bytes]", self._process.stdin)
        os.write(self._pipe.fileno(), json.dumps(orders).encode() + b"\n")
        os.set_blocking(self._pipe.fileno(), False)
        self._wait_until_ready()

    @property
    def process_id(self) -> int:
        return self._process.pid

    def beat(self) -> bool:
        """Say that all is well. False when the watchdog is gone or hangs: nobody watches then."""
        return self._send(b".")

    def close(self) -> None:
        """Say goodbye: the monitor ends in good order and nothing needs to be locked."""
        if self._pipe.closed:
            return
        self._send(b"q")
        self.abandon()

    def abandon(self) -> None:
        """Leave without a goodbye: something could not be locked, and the watchdog is to do it."""
        self._pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.abandon()  # whatever went wrong, it locks
        self.close()

    def _wait_until_ready(self) -> None:
        with cast("IO[bytes]", self._process.stdout) as answers:
            ready, _, _ = select.select([answers], [], [], _START_S)
            if not ready or not answers.read(1):
                self._process.kill()
                raise SinkError(f"the watchdog did not start within {_START_S:g} s")

    def _send(self, byte: bytes) -> bool:
        if self._pipe.closed or self._process.poll() is not None:
            return False
        try:
            return os.write(self._pipe.fileno(), byte) == 1
        except OSError:
            return False
