"""How a program asks the monitor on this machine something. It loads next to nothing."""

import json
import os
import socket
import struct
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from acclock.errors import GrantError

LONGEST = 8192
"""More bytes than a question or an answer ever has."""


def default_socket() -> Path:
    """Give where a monitor of this user listens unless it is told otherwise."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return Path(runtime) / "acclock.sock"


def request(
    path: Path,
    request: dict[str, Any],
    *,
    timeout_s: float = 1.0,
    users: Collection[int] | None = None,
) -> dict[str, Any]:
    """Give the monitor's answer, or say why there is none.

    ``users`` are those whose monitor is believed, as the kernel knows them: by default this
    user, root and whoever owns the socket's folder, who could replace the socket anyway.
    """
    deadline = time.monotonic() + timeout_s
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout_s)
        try:
            line.connect(str(path))
            _check_peer(line, users if users is not None else _expected(path))
            line.sendall(json.dumps(request).encode("ascii") + b"\n")
            answer = json.loads(_read_line(line, deadline))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise GrantError(f"no monitor answers on {path}: {why}") from error
    if not isinstance(answer, dict):
        raise GrantError(f"what answers on {path} is not a monitor")
    if "error" in answer:
        raise GrantError(f"the monitor refused: {answer['error']}")
    return answer


def peer_user(line: socket.socket) -> int:
    """Give the user at the other end, as the kernel knows them."""
    form = struct.Struct("3i")  # process, user, group
    told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size)
    return int(form.unpack(told)[1])


def _expected(path: Path) -> Collection[int]:
    return {os.getuid(), 0, path.parent.stat().st_uid}


def _check_peer(line: socket.socket, users: Collection[int]) -> None:
    if (user := peer_user(line)) not in users:
        raise ValueError(f"it belongs to the user {user}")


def _read_line(line: socket.socket, deadline: float) -> bytes:
    heard = b""
    while not heard.endswith(b"\n"):
        line.settimeout(max(deadline - time.monotonic(), 0.001))
        more = line.recv(LONGEST)
        if not more or len(heard) + len(more) > LONGEST:
            raise ValueError("the answer has no end")
        heard += more
    return heard
