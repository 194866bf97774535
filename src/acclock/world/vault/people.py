"""The table of people: found by a hash of the name, opened by a key of their own."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from acclock.errors import DamagedVaultError, NameRefusedError
from acclock.world.vault.names import appearances, folded
from acclock.world.vault.sealing import seal, sign, unseal
from acclock.world.vault.tables import people, recordings, templates
from acclock.world.vault.visit import Visit

_INSERT = insert(people)
_BY_HANDLE = select(people).where(people.c.handle == bindparam("found_by"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody in the vault, with the key that opens what is stored about them."""

    person: str
    """A random number: what the log knows them by."""
    key: bytes = field(repr=False)
    name: str
    created: datetime
    version: int
    """The template in use: always the newest, for going back makes a new version too."""
    model: str


def handle(visit: Visit, name: str) -> str:
    """Give the keyed hash under which a name is found."""
    return sign(visit.keys.naming, "name", folded(name))


def refuse_taken(visit: Visit, names: Iterable[str]) -> None:
    """Refuse names that somebody has, or that would be mistaken for one another."""
    handles: dict[str, str] = {}
    looks: dict[str, str] = {}
    _update_known_names(visit)
    for name in names:
        if (found_by := handle(visit, name)) in handles or _row_of(visit, found_by) is not None:
            raise NameRefusedError(f"the name {name!r} is taken")
        here = (looks[look] for look in appearances(name) if look in looks)
        if (other := visit.known_names.find_like(name) or next(here, None)) is not None:
            raise NameRefusedError(
                f"the name {name!r} looks like {other!r}, which is taken; choose another"
            )
        handles[found_by] = name
        looks |= dict.fromkeys(appearances(name), name)


def _update_known_names(visit: Visit) -> None:
    def open_names(wanted: set[str]) -> dict[str, str]:
        rows = visit.connection.execute(select(people)).all()
        return {row.person: open_row(visit, row).name for row in rows if row.person in wanted}

    present = visit.connection.execute(select(people.c.person)).scalars().all()
    visit.known_names.update(present, open_names)


def find(visit: Visit, name: str) -> Person:
    """Look somebody up by name."""
    if (row := _row_of(visit, handle(visit, name))) is None:
        raise NameRefusedError(f"nobody is enrolled under the name {name!r}")
    found = open_row(visit, row)
    if folded(found.name) != folded(name):
        raise DamagedVaultError("a record of the vault was moved to another name")
    return found


def _row_of(visit: Visit, found_by: str) -> Row[Any] | None:
    return visit.connection.execute(_BY_HANDLE, {"found_by": found_by}).first()


def everybody(visit: Visit) -> Iterator[Person]:
    """Give all people, and notice when some are missing."""
    rows = visit.connection.execute(select(people)).all()
    if len(rows) != visit.people:
        raise DamagedVaultError(
            f"the vault holds {len(rows)} people and should hold {visit.people}"
        )
    return (open_row(visit, row) for row in rows)


def open_row(visit: Visit, row: Row[Any]) -> Person:
    """Open what is sealed in a row."""
    key = unseal(visit.master, row.wrapped_key, "key", visit.vault, visit.master_name, row.person)
    kept = json.loads(unseal(key, row.sealed, "person", visit.vault, row.person, row.handle))
    created = datetime.fromisoformat(kept.pop("created"))
    return Person(person=row.person, key=key, created=created, **kept)


def insert_people(visit: Visit, newcomers: Sequence[Person]) -> None:
    """Write down people who are new."""
    visit.connection.execute(_INSERT, [_row(visit, person) for person in newcomers])
    visit.people += len(newcomers)


def rewrite_person(visit: Visit, person: Person) -> None:
    """Write somebody down anew."""
    row = _row(visit, person)
    visit.connection.execute(update(people).where(people.c.person == row.pop("person")), row)


def delete_person(visit: Visit, person: Person) -> None:
    """Delete somebody with all that belongs to them, the key included."""
    for table in (templates, recordings, people):
        visit.connection.execute(delete(table).where(table.c.person == person.person))
    visit.people -= 1


def _row(visit: Visit, person: Person) -> dict[str, Any]:
    kept = {
        "name": person.name,
        "created": person.created.isoformat(),
        "version": person.version,
        "model": person.model,
    }
    number, found_by = person.person, handle(visit, person.name)
    place = ("key", visit.vault, visit.master_name, number)
    plain = json.dumps(kept).encode()
    return {
        "person": number,
        "handle": found_by,
        "wrapped_key": seal(visit.master, person.key, *place),
        "sealed": seal(person.key, plain, "person", visit.vault, number, found_by),
    }
