"""Where the master key lives: the keyring of the operating system, or a file, or nowhere."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from acclock.errors import DamagedVaultError, VaultError
from acclock.system.files import open_to_others, write_private

_SERVICE = "acclock"


class KeyStore(Protocol):
    """Keeps a few keys, each with a name of its own; more than one only while they change."""

    def read(self) -> dict[str, bytes]: ...

    def write(self, keys: Mapping[str, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class KeyFile:
    """Keys in a file that only its owner reads."""

    path: Path

    def read(self) -> dict[str, bytes]:
        try:
            if open_to_others(self.path):
                raise VaultError(
                    f"the key file {self.path} is open to others; allow only its owner (chmod 600)"
                )
            return _parse(self.path.read_text(encoding="ascii"))
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise VaultError(f"cannot read the key file {self.path}") from error

    def write(self, keys: Mapping[str, bytes]) -> None:
        write_private(self.path, _format(keys).encode("ascii"))


@dataclass(frozen=True, slots=True)
class Keyring:
    """Keys in the keyring of the operating system, under the name of a folder."""

    account: str

    def read(self) -> dict[str, bytes]:
        import keyring  # here because most vaults never load it

        try:
            found = keyring.get_password(_SERVICE, self.account)
        except keyring.errors.KeyringError as error:
            raise VaultError("the keyring of the operating system did not open") from error
        return {} if found is None else _parse(found)

    def write(self, keys: Mapping[str, bytes]) -> None:
        import keyring  # here because most vaults never load it

        try:
            keyring.set_password(_SERVICE, self.account, _format(keys))
        except keyring.errors.KeyringError as error:
            raise VaultError("the keyring of the operating system took no key") from error


def find_key_store(folder: Path) -> KeyStore:
    """Choose where the keys of a vault live: where they are, else the keyring, else a file."""
    file = KeyFile(folder / "vault.key")
    if not file.path.exists() and _has_keyring():
        return Keyring(str(folder.resolve()))
    return file


def _has_keyring() -> bool:
    try:
        import keyring  # here because it is optional and slow to load
    except ImportError:
        return False
    return float(keyring.get_keyring().priority) >= 1


def _format(keys: Mapping[str, bytes]) -> str:
    return json.dumps({name: b64encode(key).decode("ascii") for name, key in keys.items()})


def _parse(text: str) -> dict[str, bytes]:
    try:
        keys = {str(name): b64decode(key) for name, key in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedVaultError("the stored master key is damaged") from error
    if any(len(key) != 32 for key in keys.values()):
        raise DamagedVaultError("the stored master key is damaged")
    return keys
