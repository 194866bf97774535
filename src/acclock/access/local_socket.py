"""The monitor's Unix socket: one line of JSON in, one line of JSON out, for known users only."""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from acclock.access.local_client import LONGEST, peer_user
from acclock.errors import AccLockError, SinkError
from acclock.system.files import make_private_folder

Answer = dict[str, Any]
Handler = Callable[[dict[str, Any]], Answer | Awaitable[Answer]]
_PATIENCE_S = 2.0
_PARTING_S = 0.01
_AT_ONCE = 32


class LocalSocket:
    """Answers questions of this user's programs (and root's, and of users that are named).

    ``handlers`` maps what is asked for to the function that answers it.
    """

    def __init__(
        self, path: Path, handlers: Mapping[str, Handler], *, users: Collection[int] = ()
    ) -> None:
        self.path = path
        self._handlers = dict(handlers)
        self._users = {os.getuid(), 0, *users}
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        """Listen; a socket that a dead process left is replaced, a living one is not."""
        await asyncio.to_thread(self._clear)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(str(self.path))
        except OSError as error:
            listener.close()
            raise SinkError(f"cannot listen on {self.path}: {error}") from error
        finally:
            os.umask(before)
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=LONGEST)

    async def close(self) -> None:
        """Stop listening, hang up and take the socket away."""
        if self._server is None:
            return
        server, self._server = self._server, None
        self.path.unlink(missing_ok=True)
        await asyncio.sleep(_PARTING_S)  # who is just being let in would be lost if it closed now
        server.close()
        for writer in self._lines:
            writer.transport.abort()
        await asyncio.sleep(0)  # until the loop has closed them

    def _clear(self) -> None:
        if not self.path.parent.is_dir():
            make_private_folder(self.path.parent)
        if not self.path.is_socket():
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_PATIENCE_S)
            try:
                probe.connect(str(self.path))
            except ConnectionRefusedError:
                self.path.unlink(missing_ok=True)
                return
            except OSError as error:
                raise SinkError(f"cannot tell who listens on {self.path}: {error}") from error
        raise SinkError(f"another monitor listens on {self.path}")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._lines.add(writer)
        try:
            user = peer_user(writer.get_extra_info("socket"))
            if len(self._lines) <= _AT_ONCE and user in self._users:
                async with asyncio.timeout(_PATIENCE_S):
                    writer.write(await self._answer(await reader.readline()))
                    await writer.drain()
        except (OSError, ValueError, TimeoutError):
            pass  # whoever asks badly or slowly is not answered, which is no yes
        finally:
            self._lines.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> bytes:
        try:
            request = json.loads(line)
            said = self._handlers[request["ask"]](request)
            answer = said if isinstance(said, dict) else await said
        except AccLockError as refusal:
            answer = {"error": str(refusal)}
        except (ValueError, KeyError, TypeError, RecursionError):
            answer = {"error": "the question was not understood"}
        return json.dumps(answer).encode("ascii") + b"\n"
