import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from acclock.errors import DamagedVaultError, VaultError
from acclock.matching.template import Template
from acclock.vault.backup import back_up
from acclock.vault.key_rotation import rotate_keys
from acclock.vault.opening import check

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

Same = Callable[[Template, Template], bool]


def test_a_backup_brings_back_everything(
    place: "Place", hearts: "Hearts", same_template: Same, tmp_path: Path
) -> None:
    stored = {f"p{number}": hearts.template() for number in range(4)}
    with place.open() as vault:
        for name, template in stored.items():
            vault.add(name, template, keep=[hearts.recording()])
        back_up(vault, tmp_path / "backup")
        vault.remove("p0")
        vault.revise("p1", hearts.template(), after=1)
        vault.add("later", hearts.template())

    place.restore(tmp_path / "backup").close()

    with place.open() as vault:
        assert [person.name for person in vault.people()] == sorted(stored)
        assert all(same_template(vault.template(name), stored[name]) for name in stored)
        assert len(vault.kept("p0")) == 1
        assert check(vault).people == 4


def test_the_log_goes_on_over_a_restore(place: "Place", hearts: "Hearts", tmp_path: Path) -> None:
    with place.open() as vault:
        back_up(vault, tmp_path / "backup")
        vault.add("ada", hearts.template())

    place.restore(tmp_path / "backup").close()

    with place.open() as vault:
        vault.add("bob", hearts.template())
        kinds = [event.kind for event in vault.events()]
        check(vault)
    assert kinds == ["created", "backed up", "enrolled", "restored", "enrolled"]


def test_a_lost_database_comes_back(files: "Place", hearts: "Hearts", tmp_path: Path) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
        back_up(vault, tmp_path / "backup")
        vault.add("later", hearts.template())
    for path in files.folder.glob("vault.db*"):
        path.unlink()

    files.restore(tmp_path / "backup").close()

    with files.open() as vault:
        assert [person.name for person in vault.people()] == ["ada"]


def test_a_damaged_database_is_set_aside(files: "Place", hearts: "Hearts", tmp_path: Path) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
        back_up(vault, tmp_path / "backup")
    (files.folder / "vault.db").write_bytes(b"rubbish" * 1000)

    files.restore(tmp_path / "backup").close()

    with files.open() as vault:
        assert [person.name for person in vault.people()] == ["ada"]
    assert (files.folder / "damaged.vault.db").exists()


def test_a_backup_moves_between_databases(
    files: "Place", place: "Place", hearts: "Hearts", same_template: Same, tmp_path: Path
) -> None:
    template = hearts.template()
    with place.open() as vault:
        vault.add("ada", template)
        back_up(vault, tmp_path / "backup")
    elsewhere = type(files)(folder=tmp_path / "elsewhere")
    elsewhere.folder.mkdir()
    shutil.copy(place.folder / "vault.key", elsewhere.folder)

    with elsewhere.restore(tmp_path / "backup") as vault:
        assert same_template(vault.template("ada"), template)


def test_a_backup_made_while_others_write_is_of_one_moment(
    place: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    templates, stop = [hearts.template() for _ in range(3)], Event()

    def keep_writing() -> None:
        with place.open() as vault:
            for number in range(1000):
                if stop.is_set():
                    return
                vault.add(f"p{number}", templates[number % 3])
                stop.wait(0.002)

    with place.open() as vault:
        writer = Thread(target=keep_writing)
        writer.start()
        for number in range(2):
            back_up(vault, tmp_path / f"backup {number}")
        stop.set()
        writer.join()

    for number in range(2):
        with place.restore(tmp_path / f"backup {number}") as restored:
            check(restored)


def test_without_the_key_a_backup_opens_nowhere(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
        back_up(vault, tmp_path / "backup")
    elsewhere = type(files)(folder=tmp_path / "elsewhere")

    with pytest.raises(DamagedVaultError, match="cannot be restored: the key to this vault"):
        elsewhere.restore(tmp_path / "backup")


def test_a_backup_from_before_a_rotation_of_keys_is_refused(
    place: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        back_up(vault, tmp_path / "backup")
        rotate_keys(vault)

        with pytest.raises(DamagedVaultError, match="not the key to this vault"):
            place.restore(tmp_path / "backup")
        assert check(vault).people == 1


@pytest.mark.parametrize("content", [b"", b"rubbish" * 1000])
def test_what_is_no_backup_changes_nothing(
    place: "Place", hearts: "Hearts", tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "backup").write_bytes(content)
    with place.open() as vault:
        vault.add("ada", hearts.template())

        with pytest.raises(DamagedVaultError, match="cannot be restored"):
            place.restore(tmp_path / "backup")
        with pytest.raises(VaultError, match="cannot read"):
            place.restore(tmp_path / "nothing")
        assert check(vault).people == 1


def test_another_vaults_backup_is_refused(files: "Place", hearts: "Hearts", tmp_path: Path) -> None:
    other = type(files)(folder=tmp_path / "other")
    with other.open() as vault:
        back_up(vault, tmp_path / "backup")
    with files.open() as vault:
        vault.add("ada", hearts.template())
    files.keys.write(files.keys.read() | other.keys.read())

    with pytest.raises(VaultError, match="of another vault"):
        files.restore(tmp_path / "backup")


def test_a_folder_that_is_not_there_is_named(files: "Place", tmp_path: Path) -> None:
    with files.open() as vault, pytest.raises(VaultError, match="there is no folder"):
        back_up(vault, tmp_path / "no" / "backup")
