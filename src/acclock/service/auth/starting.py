"""What is done before anybody can call: the first token, and tokens from the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from acclock.errors import ConfigError
from acclock.service.auth.roles import ROLES, Role
from acclock.service.auth.tokens import (
    Token,
    create_token,
    drop_invalid_tokens,
    has_operator,
    list_tokens,
    parse_duration,
    revoke_token,
)
from acclock.service.config import ServiceConfig
from acclock.service.store import ServiceStore
from acclock.system.files import write_private
from acclock.vault.opening import open_vault
from acclock.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class VaultTokens:
    """Tokens of a vault, by the names of people."""

    vault: Vault
    store: ServiceStore

    def create(
        self, role: str, *, lasting: str, person: str | None, may_grant: bool, note: str
    ) -> tuple[str, Token]:
        """Make a token."""
        number = None if person is None else self.vault.person(person).person
        return create_token(
            self.store,
            _role_named(role),
            duration_s=parse_duration(lasting),
            person=number,
            may_grant=may_grant,
            note=note,
        )

    def list(self) -> list[dict[str, object]]:
        """Give all tokens with the names of their people."""
        names = {person.person: person.name for person in self.vault.people()}
        return [
            asdict(one) | {"person": names.get(one.person or "")} for one in list_tokens(self.store)
        ]

    def revoke(self, token: str) -> None:
        revoke_token(self.store, token)


@contextmanager
def open_tokens(vault: Vault) -> Iterator[VaultTokens]:
    """Give the tokens of a vault, and close it afterwards."""
    with vault:
        yield VaultTokens(vault, ServiceStore(vault))


def drop_old_tokens(config: ServiceConfig) -> list[Token]:
    """Drop tokens that carry no valid MAC, as those of an older AccLock; they are made again."""
    with open_tokens(open_vault(config.folder, url=config.database)) as tokens:
        return drop_invalid_tokens(tokens.store)


def first_token(config: ServiceConfig) -> str | None:
    """Make an operator's token where there is none; nothing where somebody has one."""
    with open_tokens(open_vault(config.folder, url=config.database)) as tokens:
        if has_operator(tokens.store):
            return None
        secret, _ = tokens.create(
            "operator", lasting="30d", person=None, may_grant=False, note="made at the first start"
        )
    return secret


def keep_first_token(config: ServiceConfig, secret: str) -> Path:
    """Put a token into a file of its own that only its owner can read; give its path."""
    path = config.folder / "operator.token"
    write_private(path, f"{secret}\n".encode("ascii"))
    return path


def _role_named(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise ConfigError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
