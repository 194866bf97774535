"""The commands between the monitor and who relies on it: grant, check, keys."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from joserfc.jwk import KeySet
from typer.testing import CliRunner

from acclock.access.grants import GrantRegister
from acclock.access.local_socket import Handler, LocalSocket
from acclock.access.signing_keys import signing_key
from acclock.cli.access import check, grant, keys
from acclock.errors import GrantError
from acclock.live.events import SessionStatus
from acclock.live.grants import Grant
from acclock.sinks.assertion import Assertions
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

app = typer.Typer()
for command in (check, grant, keys):
    app.command()(command)


class Monitor:
    """The monitor's socket, with a session in the given state behind it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.path = folder / "home", folder / "acclock.sock"
        self.assertions = Assertions(signing_key(self.home, "assertions"))
        self.grants: list[Grant] = []
        book = GrantRegister("anna", key=signing_key(self.home, "grants"))
        handlers: dict[str, Handler] = {
            "state": self.assertions.answer,
            "grant": book.answers(self.take, now_s=lambda: 0.0),
        }
        self.socket = LocalSocket(self.path, handlers)

    async def take(self, grant: Grant) -> None:
        self.grants.append(grant)

    def ask(self, *words: str, unlocked: bool = True) -> object:
        """Run a command while the monitor listens; give its exit code, or its refusal."""

        async def decide() -> None:
            status = SessionStatus(session="s", person="anna", device="d", at=datetime.now(UTC))
            while True:
                self.assertions.hear(status, "unlocked" if unlocked else "locked")
                await asyncio.sleep(0.1)

        async def run() -> object:
            await self.socket.open()
            deciding = asyncio.create_task(decide())
            options = ["--socket", str(self.path), "--vault", str(self.home)]
            ran = await asyncio.to_thread(CliRunner().invoke, app, [*words, *options])
            deciding.cancel()
            await self.socket.close()
            return ran.exception if isinstance(ran.exception, GrantError) else ran.exit_code

        return asyncio.run(run())


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    return Monitor(tmp_path)


def test_check_exits_0_for_open_and_1_for_locked(monitor: Monitor) -> None:
    assert monitor.ask("check", "anna") == 0
    assert monitor.ask("check", "anna", unlocked=False) == 1


def test_check_refuses_what_it_cannot_be_sure_of(monitor: Monitor) -> None:
    assert "somebody else than ben" in str(monitor.ask("check", "ben"))


def test_check_by_public_keys_needs_no_home(monitor: Monitor, tmp_path: Path) -> None:
    open_vault(monitor.home, key_store=KeyFile(monitor.home / "vault.key")).close()
    ran = CliRunner().invoke(app, ["keys", "assertions", "--vault", str(monitor.home)])
    (tmp_path / "keys").write_text(ran.stdout)
    (tmp_path / "bad").write_text("{}")

    assert monitor.ask("check", "anna", "--keys", str(tmp_path / "keys")) == 0
    assert "holds no keys" in str(monitor.ask("check", "anna", "--keys", str(tmp_path / "bad")))


def test_a_grant_reaches_the_monitor(monitor: Monitor) -> None:
    assert monitor.ask("grant", "anna", "--for", "30") == 0
    assert [given.person for given in monitor.grants] == ["anna"]
    assert 29.0 < monitor.grants[0].expires_s <= 30.0


def test_a_grant_for_somebody_else_is_refused(monitor: Monitor) -> None:
    refusal = monitor.ask("grant", "ben")

    assert "the monitor refused: the grant is for somebody else than anna" in str(refusal)
    assert monitor.grants == []


def test_keys_prints_a_key_set_without_secrets(tmp_path: Path) -> None:
    open_vault(tmp_path, key_store=KeyFile(tmp_path / "vault.key")).close()

    ran = CliRunner().invoke(app, ["keys", "--vault", str(tmp_path)])

    (public,) = KeySet.import_key_set(json.loads(ran.stdout)).keys
    assert not public.is_private


@pytest.mark.parametrize("module", ["access"])
def test_these_commands_start_without_numpy_and_without_the_database(module: str) -> None:
    script = (
        f"import sys, acclock.cli.{module};"
        "print([m for m in ('numpy', 'onnxruntime', 'sqlalchemy', 'asyncio') if m in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603

    assert ran.stdout.strip() == "[]", ran.stderr
