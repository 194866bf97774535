import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from acclock.errors import DamagedVaultError, VaultError
from acclock.vault import keys
from acclock.vault.keys import KeyFile, Keyring, find_key_store
from acclock.vault.sealing import new_key

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


def pretend_keyring(monkeypatch: pytest.MonkeyPatch, *, priority: float) -> dict[object, str]:
    """A keyring in memory, as the package ``keyring`` shows it."""
    kept: dict[object, str] = {}
    fake = SimpleNamespace(
        get_keyring=lambda: SimpleNamespace(priority=priority),
        get_password=lambda service, account: kept.get((service, account)),
        set_password=lambda service, account, value: kept.update({(service, account): value}),
        errors=SimpleNamespace(KeyringError=RuntimeError),
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)
    return kept


def test_a_key_file_gives_back_what_it_was_given(tmp_path: Path) -> None:
    file, stored = KeyFile(tmp_path / "k"), {"one": new_key(), "two": new_key()}

    assert file.read() == {}
    file.write(stored)

    assert file.read() == stored
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["k"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = KeyFile(tmp_path / "k")
    file.write({"one": new_key()})
    file.path.chmod(mode)

    with pytest.raises(VaultError, match="open to others"):
        file.read()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": "c2hvcnQ="}', '{"a": 1}', "null"])
def test_a_damaged_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "k"
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(DamagedVaultError, match="master key is damaged"):
        KeyFile(path).read()


def test_where_no_file_can_be_written_there_is_no_vault(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="cannot write"):
        KeyFile(tmp_path / "no" / "folder" / "k").write({"one": new_key()})


def test_the_keyring_comes_before_a_file_where_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, stored = pretend_keyring(monkeypatch, priority=5.0), {"one": new_key()}

    store = find_key_store(tmp_path)
    assert isinstance(store, Keyring)
    assert store.read() == {}
    store.write(stored)

    assert store.read() == stored
    assert list(kept) == [("acclock", str(tmp_path))]
    assert list(tmp_path.iterdir()) == []


def test_a_keyring_without_a_back_end_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_keyring(monkeypatch, priority=0.0)

    assert find_key_store(tmp_path) == KeyFile(tmp_path / "vault.key")


def test_a_key_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_keyring(monkeypatch, priority=5.0)
    KeyFile(tmp_path / "vault.key").write({"one": new_key()})

    assert isinstance(find_key_store(tmp_path), KeyFile)


def test_without_the_package_there_is_no_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    assert isinstance(find_key_store(tmp_path), KeyFile)
    assert keys._has_keyring() is False


def test_a_vault_is_not_opened_by_another_key(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
    (name,) = place.keys.read()
    place.keys.write({name: new_key()})

    with pytest.raises(VaultError, match="does not open"):
        place.open()


def test_a_key_of_another_name_is_not_the_key(place: "Place", hearts: "Hearts") -> None:
    place.open().close()
    place.keys.write({"another": new_key()})

    with pytest.raises(VaultError, match="not the key to this vault"):
        place.open()


def test_a_lost_key_is_not_replaced_by_a_new_one(place: "Place") -> None:
    place.open().close()
    place.keys.path.unlink()

    with pytest.raises(VaultError, match="the key to this vault is not there"):
        place.open()
    assert not place.keys.path.exists()


def test_the_key_file_holds_names_and_keys_only(place: "Place") -> None:
    place.open().close()

    content = json.loads(place.keys.path.read_text())

    assert [len(name) for name in content] == [32]
