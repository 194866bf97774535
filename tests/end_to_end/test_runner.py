"""The whole monitor, with outputs, socket and watchdog; and as a program that may be killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from acclock.access.grants import issue_grant
from acclock.access.local_client import request
from acclock.access.signed_tokens import request_state
from acclock.access.signing_keys import signing_key
from acclock.errors import GrantError, MonitorError
from acclock.live.events import SessionEvent, SessionStatus
from acclock.live.policies import BALANCED
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.runner import MonitorRunner
from acclock.recognizer import Recognizer
from acclock.sinks.command import Command
from acclock.sinks.sink import Sink
from acclock.sources.simulator import SimulatorSource

PROGRAM = Path(sys.executable).with_name("acclock")
FOREVER = "simulate:wear person-000 20 h?speed=max"


class Remembering:
    """An output that notes what it is told, and when."""

    name = "remembering"

    def __init__(self) -> None:
        self.told: list[tuple[float, SessionEvent]] = []

    async def notify(self, event: SessionEvent) -> None:
        self.told.append((time.monotonic(), event))

    async def refresh(self, status: SessionStatus) -> None:
        pass

    async def close(self) -> None:
        pass


class Hanging(Remembering):
    """An output that never comes back."""

    name = "hanging"

    async def notify(self, event: SessionEvent) -> None:
        await asyncio.Event().wait()
        await super().notify(event)


def post(recognizer: Recognizer, folder: Path, script: str, sinks: list[Sink]) -> MonitorRunner:
    return MonitorRunner(
        user=EnrolledUser(recognizer, "anna"),
        source=SimulatorSource(script, speed=inf),
        sinks=sinks,
        home=folder,
        socket=folder / "monitor.sock",
        report=lambda _: None,
    )


def test_an_output_that_hangs_delays_no_other(recognizer: Recognizer, tmp_path: Path) -> None:
    quick = Remembering()
    hung = post(recognizer, tmp_path, "wear person-000 10 s", [Hanging(), quick])

    asyncio.run(hung.keep())

    assert [event.kind for _, event in quick.told] == ["started", "stopped"]
    assert [event.number for _, event in quick.told] == [1, 2]


def test_a_signed_grant_opens_and_the_answer_is_signed(
    recognizer: Recognizer, tmp_path: Path
) -> None:
    told = Remembering()
    watched = post(recognizer, tmp_path, "wear person-000 5 h", [told])
    grants, assertions = (signing_key(tmp_path, purpose) for purpose in ("grants", "assertions"))
    answers: list[object] = []

    def visit() -> None:
        token = issue_grant("anna", duration_s=30.0, key=grants)
        for token_tried in (issue_grant("ben", duration_s=30.0, key=grants), token, token):
            try:
                answers.append(request(watched.socket, {"ask": "grant", "grant": token_tried}))
            except GrantError as refusal:
                answers.append(str(refusal))
        while not any(event.kind == "unlocked" for _, event in told.told):
            time.sleep(0.05)
        answers.append(request_state(watched.socket, "anna", key=assertions, audience="test"))
        os.kill(os.getpid(), signal.SIGTERM)

    async def both() -> signal.Signals | None:
        kept = asyncio.create_task(watched.keep())
        while not told.told:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(visit)
        return await kept

    caught = asyncio.run(both())

    stranger, granted, again, said = answers
    assert "somebody else" in str(stranger)
    assert granted == {"granted": "anna"}
    assert "used already" in str(again)
    assert getattr(said, "unlocked", False)
    assert caught is signal.SIGTERM
    assert [event.kind for _, event in told.told][-2:] == ["locked", "stopped"]
    assert not watched.socket.exists()


def test_a_grant_for_who_was_just_removed_opens_nothing(
    recognizer: Recognizer, tmp_path: Path
) -> None:
    told, refusals = Remembering(), list[str]()
    watched = post(recognizer, tmp_path, "wear person-000 5 h", [told])
    key = signing_key(tmp_path, "grants")

    def visit() -> None:
        recognizer.vault.remove("anna")
        try:
            token = issue_grant("anna", duration_s=30.0, key=key)
            request(watched.socket, {"ask": "grant", "grant": token})
        except GrantError as refusal:
            refusals.append(str(refusal))

    async def both() -> None:
        kept = asyncio.create_task(watched.keep())
        while not told.told:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(visit)
        with pytest.raises(MonitorError, match="no longer in the vault"):
            await kept

    asyncio.run(both())

    assert ["no longer in the vault" in refusal for refusal in refusals] == [True]
    assert "unlocked" not in {event.kind for _, event in told.told}


def test_a_lock_that_fails_is_an_event_and_is_left_to_the_watchdog(
    recognizer: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acclock.sinks.outbox._LOCKING_S", 0.2)
    locked, told = tmp_path / "locked", Remembering()
    # it fails for the monitor, which is this process, and works for the watchdog
    script = f"test $PPID != {os.getpid()} && touch {locked}"
    door = Command(on_lock=("sh", "-c", script), name="door")
    # shaken out of trust after it was open: the lock fails while the monitor goes on
    story = "wear person-000 60 s, person-000 runs 6 s, person-000 sits 2 h"
    opened = post(recognizer, tmp_path, story, [door, told])
    opened = replace(opened, policy=BALANCED.opened_by("heartbeat"))

    async def until_trouble() -> None:
        kept = asyncio.create_task(opened.keep())
        while not any(event.kind == "trouble" for _, event in told.told):
            await asyncio.sleep(0.02)
            assert not kept.done()
        os.kill(os.getpid(), signal.SIGTERM)
        await kept

    asyncio.run(until_trouble())

    trouble = next(event for _, event in told.told if event.kind == "trouble")
    assert trouble.note == "door: sh ended with status 1"
    assert wait_for(locked, 10.0)


def start(recognizer: Recognizer, folder: Path, *more: str) -> "subprocess.Popen[str]":
    """Start the program over the vault of a desk."""
    home = recognizer.vault.head_file.path.parent
    command = [PROGRAM, "monitor", "anna", "--vault", home, "--socket", folder / "s", *more]
    return subprocess.Popen(  # noqa: S603 - our own program
        [str(word) for word in command],
        env=os.environ | {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, patience_s: float) -> bool:
    end = time.monotonic() + patience_s
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return path.exists()


def test_a_killed_monitor_is_locked_by_its_watchdog(recognizer: Recognizer, tmp_path: Path) -> None:
    opened, locked = tmp_path / "opened", tmp_path / "locked"
    running = start(
        recognizer, tmp_path, "--entry", "heartbeat", "--source", FOREVER,
        "--on-unlock", f"touch {opened}", "--on-lock", f"touch {locked}",
    )  # fmt: skip
    assert wait_for(opened, 200.0), running.communicate()
    locked.unlink(missing_ok=True)  # a machine that is slow enough makes the watchdog impatient

    running.kill()
    running.communicate()

    assert wait_for(locked, 20.0)


@pytest.mark.parametrize(("which", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_in_good_order(
    recognizer: Recognizer, tmp_path: Path, which: signal.Signals, code: int
) -> None:
    running = start(recognizer, tmp_path, "--source", FOREVER)
    assert running.stdout is not None
    first = json.loads(running.stdout.readline())

    running.send_signal(which)
    rest, complaint = running.communicate()

    last = json.loads(rest.splitlines()[-1])
    assert first["event"] == "started"
    assert (last["event"], last["state"]) == ("stopped", "locked")
    assert running.returncode == code
    assert complaint == "acclock: model default: anna was enrolled with it\n"


def test_a_vault_that_is_gone_ends_the_program_locked_and_with_a_sentence(
    recognizer: Recognizer, tmp_path: Path
) -> None:
    running = start(recognizer, tmp_path, "--source", FOREVER)
    assert running.stdout is not None
    running.stdout.readline()

    (tmp_path / "home" / "vault.db").unlink()
    rest, complaint = running.communicate()

    last = json.loads(rest.splitlines()[-1])
    lines = complaint.splitlines()
    assert (last["event"], last["state"]) == ("stopped", "locked")
    assert running.returncode == 2
    assert lines[0] == "acclock: model default: anna was enrolled with it"
    assert all(line.startswith("acclock: the task vault ") for line in lines[1:])
    assert "is given up, everything is locked; at last it failed: the vault is gone" in lines[-1]


def test_the_program_never_loads_torch(recognizer: Recognizer, tmp_path: Path) -> None:
    home = recognizer.vault.head_file.path.parent
    arguments = ["acclock", "monitor", "anna", "--vault", str(home), "--entry", "heartbeat"]
    arguments += ["--source", "simulate:wear person-000 12 s?speed=max"]
    arguments += ["--socket", str(tmp_path / "s")]
    script = (
        f"import sys\nsys.argv = {arguments!r}\n"
        "from acclock.cli.program import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n"
        "    heavy = {'torch', 'scipy', 'pandas', 'matplotlib', 'numba'} & set(sys.modules)\n"
        "    print(end.code, sorted(heavy))"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603

    assert ran.stdout.splitlines()[-1] == "0 []", ran.stderr
