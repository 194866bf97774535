"""How long the log was when last seen, kept beside the database: an older copy is noticed."""

import os
from dataclasses import dataclass
from pathlib import Path

from acclock.errors import DamagedVaultError, VaultError
from acclock.world.vault.sealing import same, sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The last event that this machine knows of."""

    events: int
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFile:
    """One line in a file of its own: which vault, how many events, the last mark, a signature."""

    path: Path

    def read(self, vault: str, key: bytes) -> Seen | None:
        """Give what was last seen of this vault; nothing when the file is not there."""
        try:
            parts = self.path.read_bytes().decode("ascii", "replace").split()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"cannot read {self.path}: {error.strerror}") from error
        if len(parts) != 4 or not parts[1].isdecimal():
            raise DamagedVaultError(f"{self.path} is damaged")
        if parts[0] != vault:
            raise DamagedVaultError(f"{self.path} belongs to another vault")
        if not same(parts[3], sign(key, "seen", vault, int(parts[1]), parts[2])):
            raise DamagedVaultError(f"{self.path} was changed by someone without the key")
        return Seen(events=int(parts[1]), head=parts[2])

    def tells_of_nothing(self) -> bool:
        """Tell whether it was written before the first event of a vault, which may never be."""
        parts = self.path.read_bytes().decode("ascii", "replace").split()
        return not parts or (len(parts) == 4 and parts[1] == "0" * 12)

    def write(self, vault: str, key: bytes, seen: Seen) -> None:
        """Remember this; in one write of always the same length, so that it is never half there.

        It is not waited for: after a power cut the file may be behind the database, which is
        harmless. A database that is behind the file is not.
        """
        mark = sign(key, "seen", vault, seen.events, seen.head)
        line = f"{vault} {seen.events:012d} {seen.head} {mark}\n".encode("ascii")
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
        except OSError as error:
            raise VaultError(
                f"the change was stored, but {self.path} cannot be written: {error.strerror}"
            ) from error
