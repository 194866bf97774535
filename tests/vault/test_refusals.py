"""A full disk, a locked or a read-only database: one sentence, and nothing is lost."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from sqlalchemy import text

from acclock.errors import FullDiskError, VaultError
from acclock.vault.database import writing
from acclock.vault.opening import check

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a megabyte; where none can be mounted, nothing."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        yield tmp_path / "unmounted"
        return
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size: a full disk for those who may not mount one."""
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def add_until_refused(place: "Place", hearts: "Hearts") -> tuple[int, str]:
    template, recording = hearts.template(), hearts.recording()
    with place.open() as vault:
        for number in range(1000):
            try:
                vault.add(f"p{number}", template, keep=[recording])
            except VaultError as refusal:
                return number, str(refusal)
    raise AssertionError("the disk was never full")


def test_a_full_disk_refuses_in_a_sentence_and_loses_nothing(
    small_disk: Path, files: "Place", hearts: "Hearts", absent: Callable[[str], NoReturn]
) -> None:
    if not small_disk.exists():
        absent("this user may not mount a small file system; the next test stands in")
    place = type(files)(folder=small_disk / "vault")

    added, refusal = add_until_refused(place, hearts)

    assert "disk" in refusal
    assert added > 1
    with place.open() as vault:
        assert check(vault).people == added
        larger = ["mount", "-o", "remount,size=4m", str(small_disk)]
        subprocess.run(larger, check=True)  # noqa: S603
        vault.add("after", hearts.template())
        assert vault.remove("p0")
        assert check(vault).people == added


@pytest.fixture
def full(small_disk: Path, absent: Callable[[str], NoReturn]) -> Callable[[], Path]:
    """A disk of four megabytes, and a way to fill it."""
    if not small_disk.exists():
        absent("this user may not mount a small file system")
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)  # noqa: S603, S607

    def fill() -> Path:
        ballast = small_disk / "ballast"
        with ballast.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass
        return ballast

    return fill


@pytest.mark.parametrize("reopen", [False, True])
def test_on_a_full_disk_everybody_can_still_be_deleted(
    small_disk: Path, files: "Place", hearts: "Hearts", full: Callable[[], Path], reopen: bool
) -> None:
    place = type(files)(folder=small_disk / "vault")
    vault = place.open()
    for number in range(4):
        vault.add(f"p{number}", hearts.template(), keep=[hearts.recording()] * 5 * number)
    if reopen:
        vault.close()
        full()
        vault = place.open(create=False)  # as `acclock remove` does
    full()
    with pytest.raises(FullDiskError):
        vault.add("late", hearts.template(), keep=[hearts.recording()] * 50)

    for number in (3, 0, 2, 1):
        assert vault.remove(f"p{number}")
        full()

    assert check(vault).people == 0
    vault.close()


def test_a_file_that_may_not_grow_refuses_in_a_sentence_and_loses_nothing(
    files: "Place", hearts: "Hearts"
) -> None:
    files.open().close()

    with largest_file(300_000):
        added, refusal = add_until_refused(files, hearts)

    assert refusal == "the disk failed or is full; nothing was changed"
    with files.open() as vault:
        assert check(vault).people == added
        vault.add("after", hearts.template())


def test_a_locked_vault_says_so_and_can_be_read(place: "Place", hearts: "Hearts") -> None:
    with place.open() as one, place.open(patience_s=0.2) as two:
        one.add("ada", hearts.template())
        with writing(one.engine):
            with pytest.raises(VaultError, match="another program is writing to the vault"):
                two.add("bob", hearts.template())
            assert [person.name for person in two.people()] == ["ada"]
        two.add("bob", hearts.template())
        assert check(one).people == 2


READ_ONLY = """
import os, sys
from pathlib import Path
from acclock.errors import FullDiskError, VaultError
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault
import sqlalchemy.dialects.sqlite
if os.geteuid() == 0:  # root writes whatever it likes
    os.setgid(65534)
    os.setuid(65534)
folder = Path(sys.argv[1])
try:
    with open_vault(folder, key_store=KeyFile(folder / "vault.key")) as vault:
        vault.remove("ada")
except VaultError as refusal:
    sys.exit(f"refused: {refusal}")
"""


def test_a_read_only_vault_says_so(files: "Place", hearts: "Hearts") -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
    if os.geteuid() == 0:
        for path in (files.folder, *files.folder.iterdir()):
            os.chown(path, 65534, 65534)
    for path in files.folder.iterdir():
        path.chmod(0o400)
    files.folder.chmod(0o500)
    passable = [folder for folder in files.folder.parents if folder.stat().st_mode & 0o1 == 0]
    for folder in passable:
        folder.chmod(0o711)

    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", READ_ONLY, files.folder], capture_output=True, text=True
    )
    for folder in passable:
        folder.chmod(0o700)
    files.folder.chmod(0o700)
    for path in files.folder.iterdir():
        path.chmod(0o600)

    assert done.returncode == 1
    assert done.stderr.startswith("refused: ")
    assert done.stderr.count("\n") == 1
    with files.open() as vault:
        assert check(vault).people == 1


def test_a_folder_that_cannot_be_made_is_named(files: "Place", tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(VaultError, match="cannot make the folder"):
        type(files)(folder=tmp_path / "file" / "vault").open()


def test_no_sentence_holds_what_was_stored(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())

        with pytest.raises(VaultError) as refusal, writing(vault.engine) as connection:
            connection.execute(text("INSERT INTO acclock_people SELECT * FROM acclock_people"))

    shown = f"{refusal.value} {refusal.value.__cause__}"
    assert "ada" not in shown
    assert "\\x" not in shown
