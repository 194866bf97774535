import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from acclock.errors import AccLockError, UnwritableError
from acclock.recordings.simulated import SimulatedCohort, write_cohort
from acclock.simulation import Scene
from acclock.system.files import hidden_path, replacing
from acclock.vault.backup import back_up
from acclock.vault.opening import open_vault

NOWHERE = Path("/proc")
"""A folder in which nobody makes files, root included."""


@pytest.fixture
def small_files() -> Iterator[None]:
    """Let no file grow beyond a kilobyte, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_there_whole_afterwards(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.bin") as file:
        file.write(b"whole")

    assert (tmp_path / "a.bin").read_bytes() == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"before")

    def fail_midway() -> None:
        with replacing(tmp_path / "a.bin") as file:
            file.write(b"half")
            raise InterruptedError

    with pytest.raises(UnwritableError):
        fail_midway()

    assert (tmp_path / "a.bin").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="No such file"), replacing(tmp_path / "no" / "a"):
        pass


@pytest.mark.parametrize("within", [None, "elsewhere"])
def test_refusals_do_not_name_a_hidden_path(tmp_path: Path, within: str | None) -> None:
    folder = None if within is None else tmp_path / within
    (folder or tmp_path).mkdir(exist_ok=True)
    said = []
    for place in ("{hidden}", "{hidden}/part.npz", "{hidden.parent}/other"):
        with (
            pytest.raises(AccLockError) as refused,
            hidden_path(tmp_path / "a.db", within=folder) as hidden,
        ):
            raise AccLockError(f"cannot write {place.format(hidden=hidden)}")
        said.append(str(refused.value))

    wanted = tmp_path / "a.db"
    assert said == [f"cannot write {wanted}{end}" for end in ("", "/part.npz", "/other")]
    assert not any((folder or tmp_path).glob(".*"))


def test_a_hidden_path_that_cannot_be_made_is_told_by_the_name_that_was_asked_for() -> None:
    with (
        pytest.raises(UnwritableError, match=r"^cannot write /proc/a\.db: [A-Z][a-z ]+$"),
        hidden_path(NOWHERE / "a.db"),
    ):
        pass


@pytest.mark.usefixtures("small_files")
def test_people_who_cannot_be_written_are_named_where_they_were_wanted(tmp_path: Path) -> None:
    cohort, folder = SimulatedCohort(scene=Scene(duration_s=10.0)), tmp_path / "people"

    with pytest.raises(UnwritableError) as refused:
        write_cohort(cohort, folder, workers=1)

    assert str(refused.value) == f"cannot write {folder}/person-000/session-0.npz: File too large"
    assert list(tmp_path.iterdir()) == []


def test_a_backup_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault, pytest.raises(AccLockError) as refused:
        back_up(vault, NOWHERE / "backup.db")

    assert str(refused.value).startswith("cannot write /proc/backup.db: ")
