"""What is removed is gone from the files, and what is in them tells nothing."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, text

from acclock.vault.backup import back_up
from acclock.vault.key_rotation import reissue, rotate_keys
from acclock.vault.schema import people, recordings, templates
from acclock.vault.vault import Vault

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


def stored_bytes(vault: Vault, name: str) -> list[bytes]:
    """Everything sealed about a person, and the hash of the name."""
    person, found = vault.person(name).person, list[bytes]()
    with vault.reading() as transaction:
        for table in (people, templates, recordings):
            rows = transaction.connection.execute(select(table).where(table.c.person == person))
            found += [value for row in rows for value in row if isinstance(value, bytes)]
    return found


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_bytes_of_the_removed_are_in_no_file(files: "Place", hearts: "Hearts") -> None:
    with files.open() as vault:
        for number in range(20):
            vault.add(f"p{number}", hearts.template(), keep=[hearts.recording()])
            vault.revise(f"p{number}", hearts.template(), after=1)
        gone = [piece for number in range(10) for piece in stored_bytes(vault, f"p{number}")]
        stays = [piece for number in range(10, 20) for piece in stored_bytes(vault, f"p{number}")]
        assert all(piece[:200] in files_of(files.folder) for piece in gone)

        erased = [vault.remove(f"p{number}") for number in range(10)]

        content = files_of(files.folder)
    assert all(erased)
    for piece in gone:  # not even a part of it: rows may be spread over pages
        assert not any(piece[at : at + 24] in content for at in range(0, len(piece) - 24, 24))
    assert all(piece[:24] in content for piece in stays)


def test_an_update_leaves_nothing_of_the_old_row_of_a_person(
    files: "Place", hearts: "Hearts"
) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
        before = stored_bytes(vault, "ada")

        rotate_keys(vault)
        after_rotation = stored_bytes(vault, "ada")
        reissue(vault)

        content = files_of(files.folder)
        assert not any(piece[:24] in content for piece in before)
        assert not any(piece[:24] in content for piece in after_rotation)
        assert all(piece[:24] in content for piece in stored_bytes(vault, "ada"))


def test_a_reader_who_holds_on_delays_the_erasing_but_not_the_removal(
    files: "Place", hearts: "Hearts"
) -> None:
    with files.open() as other, files.open(patience_s=0.2) as vault:
        vault.add("ada", hearts.template())
        with other.reading():
            erased = vault.remove("ada")

        assert erased is False
        assert vault.people() == []
    with files.open() as vault:  # the next to open it finishes the work
        pass
    assert (files.folder / "vault.db-wal").exists() is False


def test_names_centers_and_thresholds_are_nowhere_in_clear(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    template = hearts.template()
    with files.open() as vault:
        vault.add("Rumpelstiltskin", template, keep=[hearts.recording()])
        back_up(vault, tmp_path / "vault" / "backup.db")
        content = files_of(files.folder)

    assert b"Rumpelstiltskin" not in content
    assert template.center.tobytes()[:16] not in content
    assert repr(template.threshold).encode() not in content


def test_only_the_owner_reads_the_files(files: "Place", hearts: "Hearts") -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
        back_up(vault, files.folder / "backup.db")
        modes = {path.name: path.stat().st_mode & 0o777 for path in files.folder.iterdir()}

    assert set(modes.values()) == {0o600}
    assert set(modes) >= {"vault.db", "vault.db-wal", "vault.key", "vault.head", "backup.db"}
    assert files.folder.stat().st_mode & 0o777 == 0o700


def test_a_commit_is_on_the_disk_before_it_is_acknowledged(files: "Place") -> None:
    with files.open() as vault, vault.engine.connect() as connection:
        settings = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "secure_delete", "foreign_keys")
        }

    full = 2
    assert settings == {
        "journal_mode": "wal", "synchronous": full, "secure_delete": 1, "foreign_keys": 1,
    }  # fmt: skip


def test_on_postgresql_the_removed_leave_the_tables_files(
    postgres: str, request: pytest.FixtureRequest, hearts: "Hearts", tmp_path: Path
) -> None:
    place: Any = type(request.getfixturevalue("files"))(folder=tmp_path / "pg", url=postgres)
    with place.open() as vault:
        for number in range(5):
            vault.add(f"p{number}", hearts.template())
        gone = stored_bytes(vault, "p0")
        with vault.reading() as transaction:
            folder = transaction.connection.execute(text("SHOW data_directory")).scalar()

        vault.remove("p0")

        with vault.engine.connect() as connection:
            plain = connection.execution_options(isolation_level="AUTOCOMMIT")
            plain.execute(text("CHECKPOINT"))
        for piece in gone:
            searched = subprocess.run(  # noqa: S603 - programs of this machine
                ["grep", "-rlP", to_pattern(piece[:24]), f"{folder}/base"],  # noqa: S607
                capture_output=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
            )  # fmt: skip
            assert searched.stdout == b""


def to_pattern(piece: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in piece)
