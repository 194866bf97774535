import asyncio
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from dbus_fast import DBusError
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, method

from acclock.errors import SinkError
from acclock.sinks.logind import Logind

if TYPE_CHECKING:
    from tests.sinks.conftest import News

CONFIG = """<busconfig><type>session</type><listen>unix:path={socket}</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"""


class Manager(ServiceInterface):
    """As much of logind as locks."""

    def __init__(self) -> None:
        super().__init__("org.freedesktop.login1.Manager")
        self.calls: list[str] = []

    @method()
    def LockSession(self, session: "s") -> None:  # type: ignore[name-defined]  # noqa: F821, N802
        if session == "forbidden":
            raise DBusError("org.freedesktop.DBus.Error.AccessDenied", "Not yours")
        self.calls.append(f"lock {session}")

    @method()
    def LockSessions(self) -> None:  # noqa: N802
        self.calls.append("lock all")


@pytest.fixture
def bus(absent: Callable[[str], NoReturn], tmp_path: Path) -> Iterator[str]:
    """A private D-Bus; the test's own logind can be put on it."""
    program = shutil.which("dbus-daemon")
    if program is None:
        absent("there is no D-Bus (Debian: dbus)")
    config = tmp_path / "bus.conf"
    config.write_text(CONFIG.format(socket=tmp_path / "bus"))
    command = [program, f"--config-file={config}", "--nofork", "--nopidfile", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:  # noqa: S603
        assert daemon.stdout is not None
        yield daemon.stdout.readline().strip()
        daemon.kill()


async def serve(address: str) -> tuple[MessageBus, Manager]:
    connection = await MessageBus(bus_address=address).connect()
    manager = Manager()
    connection.export("/org/freedesktop/login1", manager)
    await connection.request_name("org.freedesktop.login1")
    return connection, manager


@pytest.mark.parametrize(
    ("everybody", "session", "called", "command"),
    [
        (False, None, "lock auto", "loginctl lock-session"),
        (False, "c7", "lock c7", "loginctl lock-session c7"),
        (True, None, "lock all", "loginctl lock-sessions"),
    ],
)
def test_logind_is_asked_to_lock_once(  # noqa: PLR0913 - four of them are one line of the table
    everybody: bool,
    session: str | None,
    called: str,
    command: str,
    bus: str,
    news: "News",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_SESSION_ID", raising=False)
    if session is not None:
        monkeypatch.setenv("XDG_SESSION_ID", session)

    async def run() -> list[str]:
        connection, manager = await serve(bus)
        sink = Logind(everybody=everybody, address=bus)
        for kind in ("started", "unlocked", "locked", "lockout", "stopped"):
            await sink.notify(news(kind))
        await sink.close()
        connection.disconnect()
        return manager.calls

    assert asyncio.run(run()) == [called]
    assert Logind(everybody=everybody).lock_command == tuple(command.split())


def test_closing_locks_what_was_left_open(bus: str, news: "News") -> None:
    async def run() -> list[str]:
        connection, manager = await serve(bus)
        sink = Logind(address=bus)
        await sink.notify(news("unlocked"))
        await sink.close()
        connection.disconnect()
        return manager.calls

    assert len(asyncio.run(run())) == 1


def test_a_refusal_of_logind_is_told_and_the_next_lock_asks_again(
    bus: str, news: "News", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_SESSION_ID", "forbidden")

    async def run() -> None:
        connection, _ = await serve(bus)
        sink = Logind(address=bus)
        await sink.notify(news("unlocked"))
        for kind in ("locked", "lockout"):
            with pytest.raises(SinkError, match="logind did not lock the session: Not yours"):
                await sink.notify(news(kind))
        connection.disconnect()

    asyncio.run(run())


def test_without_logind_on_the_bus_it_says_so(bus: str, news: "News") -> None:
    async def run() -> None:
        sink = Logind(address=bus)
        await sink.notify(news("unlocked"))
        with pytest.raises(SinkError, match="logind did not lock the session"):
            await sink.notify(news("locked"))

    asyncio.run(run())


def test_without_a_bus_it_says_so(news: "News", tmp_path: Path) -> None:
    async def run() -> None:
        sink = Logind(address=f"unix:path={tmp_path}/none")
        await sink.notify(news("unlocked"))
        with pytest.raises(SinkError, match="the system bus cannot be reached"):
            await sink.notify(news("locked"))

    asyncio.run(run())
