from pathlib import Path

import pytest

from acclock.errors import UnwritableError
from acclock.world.replacing import replacing


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
