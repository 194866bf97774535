"""A command that is run when the session locks or unlocks."""

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Mapping, Sequence

from acclock.errors import SinkError
from acclock.live.events import SessionEvent, SessionStatus, State
from acclock.sinks.sink import event_facts, state_after

TIMEOUT_S = 5.0


def split_command(text: str) -> tuple[str, ...]:
    """Give the words of a command. No shell reads them, so nothing in them is special.

    >>> split_command("notify-send 'AccLock: locked'")
    ('notify-send', 'AccLock: locked')
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise SinkError(f"the command {text!r} cannot be split into words: {error}") from error
    if not words:
        raise SinkError("the command is empty; name a program to run")
    return words


class Command:
    """Runs one command when the session locks, another when it unlocks.

    A command learns who and why from its environment (``ACCLOCK_PERSON``, ``ACCLOCK_REASON`` ...),
    never from its words, so a name cannot become an option or a second command.
    """

    def __init__(
        self, *, on_lock: Sequence[str] = (), on_unlock: Sequence[str] = (), name: str = "exec"
    ) -> None:
        self.name = name
        self.lock_command, self.unlock_command = tuple(on_lock), tuple(on_unlock)
        self._state: State = "locked"

    async def notify(self, event: SessionEvent) -> None:
        state = state_after(event)
        if state == self._state or event.kind == "trouble":  # which may be this command's own
            return
        if state == "unlocked":
            self._state = state  # even if it fails, something may now be open
        command = self.lock_command if state == "locked" else self.unlock_command
        if command:
            await run(command, {**os.environ, **variables(event)})
        self._state = state

    async def refresh(self, status: SessionStatus) -> None:
        pass

    async def close(self) -> None:
        if self._state == "unlocked" and self.lock_command:  # nobody said that the session ended
            await run(self.lock_command, os.environ)


def variables(event: SessionEvent) -> dict[str, str]:
    """Give what a command is told in its environment."""
    told = event_facts(event) | {"state": state_after(event)}
    return {f"ACCLOCK_{name.upper()}": str(fact) for name, fact in told.items() if fact is not None}


async def run(
    command: Sequence[str], environment: Mapping[str, str], *, timeout_s: float = TIMEOUT_S
) -> None:
    """Run a command to its end; whatever it started is killed when it takes too long."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SinkError(f"cannot run {command[0]}: {error}") from error
    try:
        code = await asyncio.wait_for(process.wait(), timeout_s)
    except TimeoutError:
        raise SinkError(f"{command[0]} was killed: it took over {timeout_s:g} s") from None
    finally:
        if process.returncode is None:
            _kill_group(process.pid)
            await process.wait()
    if code != 0:
        raise SinkError(f"{command[0]} ended with status {code}")


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
