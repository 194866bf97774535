"""What is stored about a person: every version of the template, and recordings they let us keep."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, tuple_

from acclock.errors import DamagedVaultError, NameRefusedError
from acclock.matching.template import Template
from acclock.values import Recording
from acclock.world.vault.people import Person, everybody
from acclock.world.vault.records import (
    pack_recording,
    pack_template,
    unpack_template,
)
from acclock.world.vault.rotation import rotation
from acclock.world.vault.sealing import seal, unseal
from acclock.world.vault.tables import recordings, templates
from acclock.world.vault.visit import Visit

_MISSING = "a version of a template is missing in the vault"
_INSERT = insert(templates)
_ONE_VERSION = select(templates).where(
    templates.c.person == bindparam("whose"), templates.c.version == bindparam("wanted")
)
_NEWEST = select(templates).where(
    tuple_(templates.c.person, templates.c.version).in_(
        select(templates.c.person, func.max(templates.c.version)).group_by(templates.c.person)
    )
)


def store_templates(visit: Visit, pairs: Iterable[tuple[Person, Template]]) -> None:
    """Store templates, each as the version that its person is at."""
    visit.connection.execute(_INSERT, [_row(visit, *pair) for pair in pairs])


def _row(visit: Visit, person: Person, template: Template) -> dict[str, object]:
    packed = pack_template(template, rotation(visit.keys.turning, template.center.size))
    sealed = seal_template(visit, person, person.version, person.model, packed)
    place = {"person": person.person, "version": person.version, "model": person.model}
    return place | {"sealed": sealed}


def seal_template(visit: Visit, person: Person, version: int, model: str, packed: bytes) -> bytes:
    """Bind a packed template to its user, version and model."""
    return seal(person.key, packed, "template", visit.vault, person.person, version, model)


def load_template(visit: Visit, person: Person, version: int | None = None) -> Template:
    """Load a version of somebody's template; the newest unless told."""
    wanted = person.version if version is None else version
    if not 1 <= wanted <= person.version:
        known = f"1 to {person.version}" if person.version > 1 else "1"
        raise NameRefusedError(f"{person.name} has no version {wanted}, only {known}")
    place = {"whose": person.person, "wanted": wanted}
    if (row := visit.connection.execute(_ONE_VERSION, place).first()) is None:
        raise DamagedVaultError(_MISSING)
    return unpack(visit, _open_template(visit, person, row))


def load_everybody(visit: Visit) -> Iterator[tuple[Person, Template]]:
    """Give everybody with their newest template, in one sweep through the tables."""
    newest = {row.person: row for row in visit.connection.execute(_NEWEST)}
    for person in everybody(visit):
        if (row := newest.get(person.person)) is None or row.version != person.version:
            raise DamagedVaultError(_MISSING)
        yield person, unpack(visit, _open_template(visit, person, row))


def unpack(visit: Visit, packed: bytes) -> Template:
    """Turn a packed template back into the space of its model."""
    return unpack_template(packed, partial(rotation, visit.keys.turning))


def packed_templates(visit: Visit, person: Person) -> list[tuple[int, str, bytes]]:
    """Give version, model and stored form of all of somebody's templates, oldest first."""
    rows = visit.connection.execute(
        select(templates).where(templates.c.person == person.person).order_by(templates.c.version)
    ).all()
    if [row.version for row in rows] != list(range(1, person.version + 1)):
        raise DamagedVaultError(_MISSING)
    return [(row.version, row.model, _open_template(visit, person, row)) for row in rows]


def keep_recordings(visit: Visit, person: Person, kept: Sequence[Recording]) -> None:
    """Store recordings that somebody agreed to keep, after those that are there."""
    if not kept:
        return
    count = select(func.count()).where(recordings.c.person == person.person)
    first = int(visit.connection.execute(count).scalar_one()) + 1
    for number, recording in enumerate(kept, first):
        sealed = seal_recording(visit, person, number, pack_recording(recording))
        row = {"person": person.person, "number": number, "sealed": sealed}
        visit.connection.execute(insert(recordings), row)


def seal_recording(visit: Visit, person: Person, number: int, packed: bytes) -> bytes:
    """Bind a packed recording to its user and place."""
    return seal(person.key, packed, "recording", visit.vault, person.person, number)


def packed_recordings(visit: Visit, person: Person) -> list[tuple[int, bytes]]:
    """Give number and stored form of all recordings kept of somebody."""
    rows = visit.connection.execute(
        select(recordings).where(recordings.c.person == person.person).order_by("number")
    )
    place = ("recording", visit.vault, person.person)
    return [(row.number, unseal(person.key, row.sealed, *place, row.number)) for row in rows]


def _open_template(visit: Visit, person: Person, row: Row[Any]) -> bytes:
    place = ("template", visit.vault, person.person, row.version, row.model)
    return unseal(person.key, row.sealed, *place)
