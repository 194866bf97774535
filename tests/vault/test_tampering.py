"""Somebody who can write to the database but has no key changes nothing unnoticed."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from acclock.errors import DamagedVaultError, VaultError
from acclock.matching.template import Template
from acclock.vault.audit import HeadFile, LastSeenEvent
from acclock.vault.database import writing
from acclock.vault.opening import check

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

Same = Callable[[Template, Template], bool]


def execute(place: "Place", *statements: str) -> None:
    """Change rows as somebody would who has the database and not the key."""
    with place.open() as vault, writing(vault.engine) as connection:
        without_foreign_keys = {
            "sqlite": "PRAGMA defer_foreign_keys = ON",
            "postgresql": "SET LOCAL session_replication_role = replica",
        }
        connection.execute(text(without_foreign_keys[vault.engine.dialect.name]))
        one, two = connection.execute(text("SELECT * FROM acclock_people")).all()
        known = {
            "one": one.person, "two": two.person, "name_one": one.handle, "name_two": two.handle,
            "key": one.wrapped_key,
        }  # fmt: skip
        for statement in statements:
            named = re.findall(r":(\w+)", statement)
            connection.execute(text(statement), {name: known[name] for name in named})


@pytest.fixture
def filled(place: "Place", hearts: "Hearts") -> dict[str, list[Template]]:
    stored = {name: [hearts.template(), hearts.template()] for name in ("ada", "bob")}
    with place.open() as vault:
        for name, (first, second) in stored.items():
            vault.add(name, first, keep=[hearts.recording()])
            vault.revise(name, second, after=1)
    return stored


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(
            ["UPDATE acclock_templates SET sealed = (SELECT sealed FROM acclock_templates AS other"
             " WHERE other.person != acclock_templates.person"
             " AND other.version = acclock_templates.version)"],
            id="templates swapped between people",
        ),
        pytest.param(
            ["UPDATE acclock_templates SET person = 'x' WHERE person = :one",
             "UPDATE acclock_templates SET person = :one WHERE person = :two",
             "UPDATE acclock_templates SET person = :two WHERE person = 'x'"],
            id="rows swapped between people",
        ),
        pytest.param(
            ["UPDATE acclock_people SET handle = 'x' WHERE person = :one",
             "UPDATE acclock_people SET handle = :name_one WHERE person = :two",
             "UPDATE acclock_people SET handle = :name_two WHERE person = :one"],
            id="names swapped",
        ),
        pytest.param(
            ["UPDATE acclock_people SET wrapped_key = :key"],
            id="one key for all",
        ),
        pytest.param(
            ["UPDATE acclock_templates SET sealed = (SELECT sealed FROM acclock_templates AS other"
             " WHERE other.person = acclock_templates.person AND other.version = 1)"],
            id="an old template in a new version",
        ),
        pytest.param(
            ["UPDATE acclock_templates SET model = 'other'"], id="another model"
        ),
        pytest.param(
            ["DELETE FROM acclock_templates WHERE version = 2"], id="newest version deleted"
        ),
        pytest.param(
            ["DELETE FROM acclock_templates WHERE version = 1"], id="oldest version deleted"
        ),
        pytest.param(
            ["DELETE FROM acclock_templates WHERE person = :one",
             "DELETE FROM acclock_recordings WHERE person = :one",
             "DELETE FROM acclock_people WHERE person = :one"],
            id="a person deleted",
        ),
        pytest.param(
            ["UPDATE acclock_recordings SET number = 5"], id="a recording moved"
        ),
        pytest.param(["DELETE FROM acclock_events WHERE number = 4"], id="log cut short"),
        pytest.param(["DELETE FROM acclock_events WHERE number = 2"], id="log with a hole"),
        pytest.param(["DELETE FROM acclock_events"], id="log emptied"),
        pytest.param(
            ["UPDATE acclock_events SET body = replace(body, 'enrolled', 'updated')"],
            id="log rewritten",
        ),
        pytest.param(
            ["DELETE FROM acclock_events WHERE number > 2",
             "UPDATE acclock_vault SET events = 2, head = (SELECT mark FROM acclock_events"
             " WHERE number = 2)"],
            id="log and its count cut short",
        ),
        pytest.param(["UPDATE acclock_vault SET people = 1"], id="people miscounted"),
        pytest.param(["DELETE FROM acclock_vault"], id="vault row deleted"),
        pytest.param(["UPDATE acclock_vault SET vault = 'x'"], id="another vault"),
    ],
)  # fmt: skip
def test_it_is_noticed_and_gives_nobody_anothers_template(
    place: "Place", filled: dict[str, list[Template]], same_template: Same, statements: list[str]
) -> None:
    execute(place, *statements)

    with pytest.raises(VaultError), place.open() as vault:
        check(vault)
    for name, versions in filled.items():
        loaded = load(place, name)
        assert loaded is None or same_template(loaded, versions[1])


def load(place: "Place", name: str) -> Template | None:
    try:
        with place.open() as vault:
            return vault.template(name)
    except VaultError:
        return None


def test_a_cut_log_is_noticed_even_where_nobody_remembers_its_length(
    place: "Place", filled: dict[str, list[Template]]
) -> None:
    execute(
        place,
        "DELETE FROM acclock_events WHERE number > 2",
        "UPDATE acclock_vault SET events = 2,"
        " head = (SELECT mark FROM acclock_events WHERE number = 2)",
    )
    (place.folder / "vault.head").unlink()

    with pytest.raises(DamagedVaultError, match="changed by someone without its key"):
        place.open()


def test_a_changed_log_is_noticed_when_it_is_read(
    place: "Place", filled: dict[str, list[Template]]
) -> None:
    execute(place, "UPDATE acclock_events SET body = replace(body, 'enrolled', 'removed')")

    with place.open() as vault, pytest.raises(DamagedVaultError, match="event 2 does not follow"):
        vault.events()


def test_an_older_copy_of_the_whole_database_is_noticed(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
    shutil.copy(files.folder / "vault.db", tmp_path / "older.db")
    with files.open() as vault:
        vault.remove("ada")

    shutil.copy(tmp_path / "older.db", files.folder / "vault.db")

    with pytest.raises(DamagedVaultError, match="has 2 events and had 3: it was cut short"):
        files.open()


def test_another_past_of_the_same_length_is_noticed(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
    shutil.copytree(files.folder, tmp_path / "fork")
    with type(files)(folder=tmp_path / "fork").open() as vault:
        vault.add("mallory", hearts.template())
    with files.open() as vault:
        vault.add("bob", hearts.template())

    shutil.copy(tmp_path / "fork" / "vault.db", files.folder / "vault.db")

    with pytest.raises(DamagedVaultError, match="past is not the one"):
        files.open()


def test_a_vault_that_is_gone_is_not_silently_begun_anew(files: "Place", hearts: "Hearts") -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
    for path in files.folder.glob("vault.db*"):
        path.unlink()

    with pytest.raises(DamagedVaultError, match=r"is gone: restore a backup"):
        files.open()


def test_an_older_copy_without_the_count_of_events_is_refused(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    with files.open() as vault:
        vault.add("ada", hearts.template())
    shutil.copy(files.folder / "vault.db", tmp_path / "older.db")
    with files.open() as vault:
        vault.remove("ada")

    shutil.copy(tmp_path / "older.db", files.folder / "vault.db")
    (files.folder / "vault.head").unlink()

    with pytest.raises(DamagedVaultError, match=r"vault\.head is not there.*accept-state"):
        files.open()
    assert not (files.folder / "vault.head").exists()


def test_an_operator_accepts_a_state_once_and_the_log_says_so(
    place: "Place", hearts: "Hearts"
) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
    (place.folder / "vault.head").unlink()

    place.accept().close()

    with place.open() as vault:
        assert [event.kind for event in vault.events()] == ["created", "enrolled", "state accepted"]
        assert [person.name for person in vault.people()] == ["ada"]
    with pytest.raises(VaultError, match="no state has to be accepted"):
        place.accept()


def test_a_state_that_was_tampered_with_is_not_accepted(
    place: "Place", filled: dict[str, list[Template]]
) -> None:
    execute(place, "UPDATE acclock_events SET body = replace(body, 'enrolled', 'removed')")
    (place.folder / "vault.head").unlink()

    with pytest.raises(DamagedVaultError, match="event 2 does not follow"):
        place.accept()
    assert not (place.folder / "vault.head").exists()


def test_where_there_is_no_vault_none_is_accepted_and_none_is_made(place: "Place") -> None:
    with pytest.raises(VaultError, match="there is no vault at"):
        place.accept()

    with pytest.raises(VaultError, match="there is no vault at"):
        place.open(create=False)


def test_a_new_replica_opens_once_it_is_given_the_count(
    place: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
    (tmp_path / "second").mkdir()
    moved = type(place)(folder=tmp_path / "second", url=place.url)
    for path in place.folder.iterdir():
        if path.name != "vault.head":
            shutil.copy(path, moved.folder)

    with pytest.raises(DamagedVaultError, match="is not there"):
        moved.open()
    shutil.copy(place.folder / "vault.head", moved.folder)

    with moved.open() as vault:
        assert [person.name for person in vault.people()] == ["ada"]


def test_the_count_that_a_vault_begins_with_fits_no_later_state(
    files: "Place", hearts: "Hearts", monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bytes] = []
    write = HeadFile.write

    def keep(self: HeadFile, vault: str, key: bytes, seen: LastSeenEvent) -> None:
        write(self, vault, key, seen)
        written.append(self.path.read_bytes())

    monkeypatch.setattr(HeadFile, "write", keep)
    with files.open() as vault:
        vault.add("ada", hearts.template())

    (files.folder / "vault.head").write_bytes(written[0])

    assert b" 000000000000 " in written[0]
    with pytest.raises(DamagedVaultError, match="past is not the one"):
        files.open()


@pytest.mark.parametrize("content", [b"", b"rubbish", b"a 1 b c\n", bytes(200)])
def test_a_changed_count_of_events_is_refused(files: "Place", content: bytes) -> None:
    files.open().close()
    (files.folder / "vault.head").write_bytes(content)

    with pytest.raises(DamagedVaultError, match=r"vault\.head"):
        files.open()


def test_a_count_of_events_cannot_be_forged(files: "Place", hearts: "Hearts") -> None:
    files.open().close()
    path = files.folder / "vault.head"
    path.write_text(path.read_text().replace(" 000000000001 ", " 000000000000 "))

    with pytest.raises(DamagedVaultError, match="changed by someone without the key"):
        files.open()


def put_a_copy_in_its_place(path: Path) -> None:
    shutil.copyfile(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


@pytest.mark.parametrize("take_away", [Path.unlink, put_a_copy_in_its_place])
def test_a_file_that_was_removed_or_replaced_while_it_was_open_is_refused(
    files: "Place", hearts: "Hearts", take_away: Callable[[Path], None]
) -> None:
    template = hearts.template()
    with files.open() as vault:
        vault.add("ada", template)
        take_away(files.folder / "vault.db")

        with pytest.raises(VaultError, match="the vault is gone"):
            vault.person("ada")
        with pytest.raises(VaultError, match="the vault is gone"):
            vault.add("bob", template)
