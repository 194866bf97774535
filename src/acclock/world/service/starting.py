"""What is done before anybody can call: the first token, and tokens from the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from acclock.errors import ConfigError
from acclock.world.service.config import ServiceConfig
from acclock.world.service.roles import ROLES, Role
from acclock.world.service.store import Store
from acclock.world.service.tokens import (
    Token,
    create_token,
    has_operator,
    list_tokens,
    parse_duration,
    revoke_token,
)
from acclock.world.vault.opening import open_vault
from acclock.world.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a vault, by the names of people."""

    vault: Vault
    store: Store

    def create(
        self, role: str, *, lasting: str, person: str | None, may_grant: bool, note: str
    ) -> tuple[str, Token]:
        """Make a token, and let the log know."""
        number = None if person is None else self.vault.person(person).person
        secret, made = create_token(
            self.store,
            _role_named(role),
            duration_s=parse_duration(lasting),
            person=number,
            may_grant=may_grant,
            note=note,
        )
        self._log("token made", number, f"{made.role} token {made.token} made")
        return secret, made

    def list(self) -> list[dict[str, object]]:
        """Give all tokens with the names of their people."""
        names = {person.person: person.name for person in self.vault.people()}
        return [
            asdict(one) | {"person": names.get(one.person or "")} for one in list_tokens(self.store)
        ]

    def revoke(self, token: str) -> None:
        revoke_token(self.store, token)
        self._log("token revoked", None, token)

    def _log(self, kind: str, person: str | None, note: str) -> None:
        with self.vault.writing() as visit:
            visit.log(kind, person=person, note=note)


@contextmanager
def open_tokens(vault: Vault) -> Iterator[Tokens]:
    """Give the tokens of a vault, and close it afterwards."""
    with vault:
        yield Tokens(vault, Store(vault.engine))


def first_token(config: ServiceConfig) -> str | None:
    """Make an operator's token where there is none; nothing where somebody has one."""
    with open_tokens(open_vault(config.folder, url=config.database)) as tokens:
        if has_operator(tokens.store):
            return None
        secret, _ = tokens.create(
            "operator", lasting="30d", person=None, may_grant=False, note="made at the first start"
        )
    return secret


def _role_named(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise ConfigError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
