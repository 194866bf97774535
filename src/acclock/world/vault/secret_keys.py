"""The keys that a vault keeps inside itself, sealed by the master key."""

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, field

from acclock.world.vault.sealing import new_key, seal, unseal


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKeys:
    """One key for each purpose, so that none gives another away."""

    turning: bytes = field(default_factory=new_key, repr=False)
    """Seeds the rotation of the embedding space; a new one revokes every template."""
    naming: bytes = field(default_factory=new_key, repr=False)
    """Hashes names, so that a person is found and nobody reads who is enrolled."""
    auditing: bytes = field(default_factory=new_key, repr=False)
    """Signs the log. It never changes: the whole log hangs on it."""

    def sealed(self, master: bytes, vault: str, master_name: str) -> bytes:
        """Give the keys in the form in which they are stored."""
        kept = {name: b64encode(key).decode("ascii") for name, key in asdict(self).items()}
        return seal(master, json.dumps(kept).encode(), "secrets", vault, master_name)


def open_secret_keys(sealed: object, master: bytes, vault: str, master_name: str) -> SecretKeys:
    """Give back the keys that the master key sealed for this vault."""
    kept = json.loads(unseal(master, sealed, "secrets", vault, master_name))
    return SecretKeys(**{name: b64decode(key) for name, key in kept.items()})
