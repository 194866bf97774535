"""The watchdog's own process: locks when the monitor dies, hangs or leaves without a word.

It runs by its path with ``python -I -S`` and knows the standard library alone, so that it is small,
starts at once and cannot be broken by a package. It reads its orders as one line of JSON from
standard input, says ``r`` on standard output when it is ready, then hears one byte for each
heartbeat, and ``q`` for a goodbye.
"""

import json
import os
import select
import signal
import subprocess
import sys

COMMAND_TIMEOUT_S = 5.0
READY, GOODBYE = b"r", b"q"


def lock(commands: list[list[str]]) -> None:
    """Run every lock command, each for a few seconds at most; one that fails stops no other."""
    running = []
    for command in commands:
        try:
            running.append(_start(command))
        except (OSError, ValueError) as error:
            print(f"acclock: cannot run {command[0]}: {error}", file=sys.stderr)  # noqa: T201 - there is no one else to tell
    for process in running:
        try:
            process.wait(COMMAND_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def _start(command: list[str]) -> "subprocess.Popen[bytes]":
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nowhere, stdout=nowhere, start_new_session=True)  # noqa: S603 - the owner's own words, no shell


def watch(heartbeat: int, commands: list[list[str]], patience_s: float) -> None:
    """Lock once for each time that the heartbeat stops; return when the monitor is gone."""
    locked = False
    while True:
        ready, _, _ = select.select([heartbeat], [], [], None if locked else patience_s)
        heard = os.read(heartbeat, 4096) if ready else None
        if heard is None:
            lock(commands)
            locked = True  # it hangs; should it come back, it is watched again
        elif heard == b"":
            if not locked:
                lock(commands)
            return
        elif heard.endswith(GOODBYE):
            return
        else:
            locked = False


def read_orders(source: int) -> dict[str, object]:
    """Give the first line, read byte by byte so that no heartbeat is swallowed with it."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(source, 1)
        if not byte:
            break
        line += byte
    return json.loads(line)  # type: ignore[no-any-return]


def main() -> None:
    """Take orders from standard input and watch over it."""
    orders = read_orders(0)
    commands: list[list[str]] = orders["commands"]  # type: ignore[assignment]
    patience_s: float = orders["patience_s"]  # type: ignore[assignment]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the monitor, which says goodbye
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal kills the monitor, not this

    def lock_and_leave(*_: object) -> None:
        lock(commands)
        os._exit(0)

    signal.signal(signal.SIGTERM, lock_and_leave)
    os.write(1, READY)
    os.close(1)
    watch(0, commands, patience_s)


if __name__ == "__main__":
    main()
