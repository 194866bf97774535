"""Whatever is acknowledged survives, and nothing is ever half done."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from acclock.service.store import metadata as service_metadata
from acclock.vault.backup import back_up
from acclock.vault.database import writing
from acclock.vault.opening import check
from acclock.vault.vault import Vault

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

PROGRAM = Path(__file__).with_name("crashing.py")


def fill(place: "Place", hearts: "Hearts", people: int) -> None:
    with place.open() as vault:
        for number in range(people):
            vault.add(f"p{number}", hearts.template(), keep=[hearts.recording()])


def versions(vault: Vault) -> dict[str, int]:
    return {person.name: person.version for person in vault.people()}


BEFORE = {"p0": 1, "p1": 1, "p2": 1}
AFTER = {
    "enroll": BEFORE | {"new 0": 1},
    "update": BEFORE | {"p0": 2},
    "remove": {"p1": 1, "p2": 1},
    "rotate": BEFORE,
    "reissue": BEFORE,
    "restore": BEFORE,
}


@pytest.mark.parametrize("deed", [*AFTER, "migrate", "tables"])
def test_dying_at_any_point_leaves_the_state_before_or_after(
    files: "Place", hearts: "Hearts", tmp_path: Path, deed: str
) -> None:
    fill(files, hearts, 3)
    if deed == "restore":
        with files.open() as vault:
            back_up(vault, files.folder / "backup.db")
            vault.remove("p0")
    if deed == "tables":
        with files.open() as vault, writing(vault.engine) as connection:
            connection.execute(text("DROP TABLE acclock_recordings"))
            service_metadata.drop_all(connection)
            connection.execute(text("UPDATE acclock_schema SET version_num = '0001'"))

    died = die_everywhere(deed, files.folder, tmp_path / "out")

    before = {"p1": 1, "p2": 1} if deed == "restore" else BEFORE
    for folder in died:
        with type(files)(folder=folder).open() as vault:
            found = versions(vault)
            check(vault)
            assert len(vault.key_store.read()) == 1
        if deed == "migrate":
            assert set(found.values()) <= {1, 2}
            assert list(found) == list(BEFORE)
            after = dict.fromkeys(BEFORE, 2)
        else:
            after = AFTER.get(deed, BEFORE)
            assert found in (before, after)
        if (folder / "done").exists():
            assert found == after
    assert len(died) > 1


def test_dying_while_a_vault_is_made_leaves_none_or_a_whole_one(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()

    died = die_everywhere("create", tmp_path / "empty", tmp_path / "out")

    for folder in died:
        with type(files)(folder=folder).open() as vault:
            vault.add("ada", hearts.template())
            assert check(vault).people == 1
    assert len(died) > 10


def die_everywhere(deed: str, pristine: Path, out: Path) -> list[Path]:
    out.mkdir()
    subprocess.run([sys.executable, PROGRAM, "points", deed, pristine, out], check=True)  # noqa: S603
    return sorted(out.iterdir(), key=lambda folder: int(folder.name))


@contextmanager
def running(deed: str, place: "Place", mode: str = "loop") -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(PROGRAM), mode, deed, str(place.folder)]
    command += [place.url] if place.url else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:  # noqa: S603
        yield program
        program.kill()


def kill_once(deed: str, place: "Place", *, delay_s: float) -> int:
    """Let a program work for a while and kill it (-9); give how often it said «done»."""
    with running(deed, place) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "open\n"
        time.sleep(delay_s)
        program.kill()
        return len(program.stdout.readlines())


def check_after(deed: str, place: "Place", *, before: dict[str, int], done: int) -> None:
    with place.open() as vault:
        check(vault)
        after = versions(vault)
    if deed == "enroll":
        assert set(after) - set(before) in (
            {f"new {n}" for n in range(done)},
            {f"new {n}" for n in range(done + 1)},
        )
    elif deed == "update":
        assert after["p0"] - before["p0"] in (done, done + 1)
    elif deed == "remove":
        assert len(before) - len(after) in (done, done + 1)
        assert not set(after) & {f"p{n}" for n in range(done)}
    elif deed == "migrate":
        steps = sum(after.values()) - sum(before.values())
        assert done * len(before) <= steps <= (done + 1) * len(before)
    else:
        assert after == before


def kill_and_check(deed: str, place: "Place", hearts: "Hearts") -> None:
    fill(place, hearts, 12)
    with place.open() as vault:
        before = versions(vault)

    done = kill_once(deed, place, delay_s=0.05)

    check_after(deed, place, before=before, done=done)


@pytest.mark.parametrize("deed", ["enroll", "rotate"])
def test_a_kill_loses_nothing_that_was_acknowledged(
    place: "Place", hearts: "Hearts", deed: str
) -> None:
    kill_and_check(deed, place, hearts)


@pytest.mark.parametrize("delay_s", [0.02, 0.2])
def test_a_kill_loses_nobody_of_a_crowd_that_shares_its_commits(
    place: "Place", hearts: "Hearts", delay_s: float
) -> None:
    fill(place, hearts, 1)

    with running("enroll", place, mode="crowd") as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "open\n"
        time.sleep(delay_s)
        program.kill()
        acknowledged = {line.rstrip("\n") for line in program.stdout}

    with place.open() as vault:
        check(vault)
        unheard = set(versions(vault)) - acknowledged - {"p0"}
        assert acknowledged <= set(versions(vault))
    assert len(unheard) <= 8


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["update", "remove", "migrate", "reissue"])
def test_any_other_kill_loses_nothing_either(place: "Place", hearts: "Hearts", deed: str) -> None:
    kill_and_check(deed, place, hearts)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("deed", ["enroll", "update", "remove", "rotate", "migrate"])
def test_forty_kills_lose_nothing_that_was_acknowledged(
    files: "Place", hearts: "Hearts", tmp_path: Path, deed: str
) -> None:
    random.seed(deed)
    fill(files, hearts, 60)
    with files.open() as vault:
        before = versions(vault)
    for number in range(40):
        victim = type(files)(folder=tmp_path / str(number))
        shutil.copytree(files.folder, victim.folder)

        done = kill_once(deed, victim, delay_s=random.uniform(0.0, 0.25))  # noqa: S311

        check_after(deed, victim, before=before, done=done)
        shutil.rmtree(victim.folder)
