"""The table of people: found by a hash of the name, opened by a key of their own."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from acclock.errors import DamagedVaultError, NameRefusedError
from acclock.vault.names import appearances, folded
from acclock.vault.schema import people, recordings, templates
from acclock.vault.sealing import seal, sign, unseal
from acclock.vault.transaction import VaultTransaction

_INSERT = insert(people)
_BY_HANDLE = select(people).where(people.c.handle == bindparam("found_by"))


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultPerson:
    """Somebody in the vault, with the key that opens what is stored about them."""

    person: str
    """A random number: what the log knows them by."""
    key: bytes = field(repr=False)
    name: str
    created: datetime
    version: int
    """The template in use: always the newest, for going back makes a new version too."""
    model: str


def handle(transaction: VaultTransaction, name: str) -> str:
    """Give the keyed hash under which a name is found."""
    return sign(transaction.keys.naming, "name", folded(name))


def refuse_taken(transaction: VaultTransaction, names: Iterable[str]) -> None:
    """Refuse names that somebody has, or that would be mistaken for one another."""
    handles: dict[str, str] = {}
    looks: dict[str, str] = {}
    _update_known_names(transaction)
    for name in names:
        if (found_by := handle(transaction, name)) in handles or _row_of(
            transaction, found_by
        ) is not None:
            raise NameRefusedError(f"the name {name!r} is taken")
        here = (looks[look] for look in appearances(name) if look in looks)
        if (other := transaction.known_names.find_like(name) or next(here, None)) is not None:
            raise NameRefusedError(
                f"the name {name!r} looks like {other!r}, which is taken; choose another"
            )
        handles[found_by] = name
        looks |= dict.fromkeys(appearances(name), name)


def _update_known_names(transaction: VaultTransaction) -> None:
    def open_names(wanted: set[str]) -> dict[str, str]:
        rows = transaction.connection.execute(select(people)).all()
        return {row.person: open_row(transaction, row).name for row in rows if row.person in wanted}

    present = transaction.connection.execute(select(people.c.person)).scalars().all()
    transaction.known_names.update(present, open_names)


def find(transaction: VaultTransaction, name: str) -> VaultPerson:
    """Look somebody up by name."""
    if (row := _row_of(transaction, handle(transaction, name))) is None:
        raise NameRefusedError(f"nobody is enrolled under the name {name!r}")
    found = open_row(transaction, row)
    if folded(found.name) != folded(name):
        raise DamagedVaultError("a record of the vault was moved to another name")
    return found


def _row_of(transaction: VaultTransaction, found_by: str) -> Row[Any] | None:
    return transaction.connection.execute(_BY_HANDLE, {"found_by": found_by}).first()


def everybody(transaction: VaultTransaction) -> Iterator[VaultPerson]:
    """Give all people, and notice when some are missing."""
    rows = transaction.connection.execute(select(people)).all()
    if len(rows) != transaction.people:
        raise DamagedVaultError(
            f"the vault holds {len(rows)} people and should hold {transaction.people}"
        )
    return (open_row(transaction, row) for row in rows)


def open_row(transaction: VaultTransaction, row: Row[Any]) -> VaultPerson:
    """Open what is sealed in a row."""
    key = unseal(
        transaction.master,
        row.wrapped_key,
        "key",
        transaction.vault,
        transaction.master_name,
        row.person,
    )
    kept = json.loads(unseal(key, row.sealed, "person", transaction.vault, row.person, row.handle))
    created = datetime.fromisoformat(kept.pop("created"))
    return VaultPerson(person=row.person, key=key, created=created, **kept)


def insert_people(transaction: VaultTransaction, newcomers: Sequence[VaultPerson]) -> None:
    """Write down people who are new."""
    transaction.connection.execute(_INSERT, [_row(transaction, person) for person in newcomers])
    transaction.people += len(newcomers)


def rewrite_person(transaction: VaultTransaction, person: VaultPerson) -> None:
    """Write somebody down anew."""
    row = _row(transaction, person)
    transaction.connection.execute(update(people).where(people.c.person == row.pop("person")), row)


def delete_person(transaction: VaultTransaction, person: VaultPerson) -> None:
    """Delete somebody with all that belongs to them, the key included."""
    for table in (templates, recordings, people):
        transaction.connection.execute(delete(table).where(table.c.person == person.person))
    transaction.people -= 1


def _row(transaction: VaultTransaction, person: VaultPerson) -> dict[str, Any]:
    kept = {
        "name": person.name,
        "created": person.created.isoformat(),
        "version": person.version,
        "model": person.model,
    }
    number, found_by = person.person, handle(transaction, person.name)
    place = ("key", transaction.vault, transaction.master_name, number)
    plain = json.dumps(kept).encode()
    return {
        "person": number,
        "handle": found_by,
        "wrapped_key": seal(transaction.master, person.key, *place),
        "sealed": seal(person.key, plain, "person", transaction.vault, number, found_by),
    }
