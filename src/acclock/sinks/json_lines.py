"""Events as lines of JSON, in a file or on standard output."""

import os
import threading
from collections import deque
from pathlib import Path

from acclock.errors import SinkError
from acclock.live.events import SessionEvent, SessionStatus
from acclock.sinks.sink import as_json, call_aside, event_facts

_STANDARD_OUTPUT = 1


class JsonLines:
    """Appends one line for each event; a file that it makes is readable by its owner alone.

    What a full disk or a stopped reader did not take is written, in order, when it can be.
    """

    def __init__(self, path: Path | None) -> None:
        self.name = f"jsonl:{path or '-'}"
        self._handle = _open(path) if path else _STANDARD_OUTPUT
        self._lines: deque[bytes] = deque()
        self._writing = threading.Lock()

    async def notify(self, event: SessionEvent) -> None:
        self._lines.append(as_json(event_facts(event)).encode("ascii") + b"\n")
        if self._writing.locked():
            raise SinkError("an earlier line is not taken yet; this one waits behind it")
        await call_aside(self._write)

    async def refresh(self, status: SessionStatus) -> None:
        pass

    async def close(self) -> None:
        if self._handle != _STANDARD_OUTPUT and not self._writing.locked():
            os.close(self._handle)

    def _write(self) -> None:
        with self._writing:
            while self._lines:  # a pipe or a full disk may take a part of a line only
                written = os.write(self._handle, self._lines[0])
                self._lines[0] = self._lines[0][written:]
                if not self._lines[0]:
                    self._lines.popleft()


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    try:  # without blocking, because a named pipe that nobody reads would hold up the start
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        raise SinkError(f"cannot write events to {path}: {error.strerror}") from error
    os.set_blocking(handle, True)
    return handle
