"""What is stored about a person: every version of the template, and recordings they let us keep."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, tuple_

from acclock.errors import DamagedVaultError, NameRefusedError
from acclock.matching.template import Template
from acclock.values import Recording
from acclock.vault.people import VaultPerson, everybody
from acclock.vault.records import pack_recording, pack_template, rotation, unpack_template
from acclock.vault.schema import recordings, templates
from acclock.vault.sealing import seal, unseal
from acclock.vault.transaction import VaultTransaction

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


def store_templates(
    transaction: VaultTransaction, pairs: Iterable[tuple[VaultPerson, Template]]
) -> None:
    """Store templates, each as the version that its person is at."""
    transaction.connection.execute(_INSERT, [_row(transaction, *pair) for pair in pairs])


def _row(
    transaction: VaultTransaction, person: VaultPerson, template: Template
) -> dict[str, object]:
    packed = pack_template(template, rotation(transaction.keys.turning, template.center.size))
    sealed = seal_template(transaction, person, person.version, person.model, packed)
    place = {"person": person.person, "version": person.version, "model": person.model}
    return place | {"sealed": sealed}


def seal_template(
    transaction: VaultTransaction, person: VaultPerson, version: int, model: str, packed: bytes
) -> bytes:
    """Bind a packed template to its user, version and model."""
    return seal(person.key, packed, "template", transaction.vault, person.person, version, model)


def load_template(
    transaction: VaultTransaction, person: VaultPerson, version: int | None = None
) -> Template:
    """Load a version of somebody's template; the newest unless told."""
    wanted = person.version if version is None else version
    if not 1 <= wanted <= person.version:
        known = f"1 to {person.version}" if person.version > 1 else "1"
        raise NameRefusedError(f"{person.name} has no version {wanted}, only {known}")
    place = {"whose": person.person, "wanted": wanted}
    if (row := transaction.connection.execute(_ONE_VERSION, place).first()) is None:
        raise DamagedVaultError(_MISSING)
    return unpack(transaction, _open_template(transaction, person, row))


def load_everybody(transaction: VaultTransaction) -> Iterator[tuple[VaultPerson, Template]]:
    """Give everybody with their newest template, in one sweep through the tables."""
    newest = {row.person: row for row in transaction.connection.execute(_NEWEST)}
    for person in everybody(transaction):
        if (row := newest.get(person.person)) is None or row.version != person.version:
            raise DamagedVaultError(_MISSING)
        yield person, unpack(transaction, _open_template(transaction, person, row))


def unpack(transaction: VaultTransaction, packed: bytes) -> Template:
    """Turn a packed template back into the space of its model."""
    return unpack_template(packed, partial(rotation, transaction.keys.turning))


def packed_templates(
    transaction: VaultTransaction, person: VaultPerson
) -> list[tuple[int, str, bytes]]:
    """Give version, model and stored form of all of somebody's templates, oldest first."""
    rows = transaction.connection.execute(
        select(templates).where(templates.c.person == person.person).order_by(templates.c.version)
    ).all()
    if [row.version for row in rows] != list(range(1, person.version + 1)):
        raise DamagedVaultError(_MISSING)
    return [(row.version, row.model, _open_template(transaction, person, row)) for row in rows]


def keep_recordings(
    transaction: VaultTransaction, person: VaultPerson, kept: Sequence[Recording]
) -> None:
    """Store recordings that somebody agreed to keep, after those that are there."""
    if not kept:
        return
    count = select(func.count()).where(recordings.c.person == person.person)
    first = int(transaction.connection.execute(count).scalar_one()) + 1
    for number, recording in enumerate(kept, first):
        sealed = seal_recording(transaction, person, number, pack_recording(recording))
        row = {"person": person.person, "number": number, "sealed": sealed}
        transaction.connection.execute(insert(recordings), row)


def seal_recording(
    transaction: VaultTransaction, person: VaultPerson, number: int, packed: bytes
) -> bytes:
    """Bind a packed recording to its user and place."""
    return seal(person.key, packed, "recording", transaction.vault, person.person, number)


def packed_recordings(
    transaction: VaultTransaction, person: VaultPerson
) -> list[tuple[int, bytes]]:
    """Give number and stored form of all recordings kept of somebody."""
    rows = transaction.connection.execute(
        select(recordings).where(recordings.c.person == person.person).order_by("number")
    )
    place = ("recording", transaction.vault, person.person)
    return [(row.number, unseal(person.key, row.sealed, *place, row.number)) for row in rows]


def _open_template(transaction: VaultTransaction, person: VaultPerson, row: Row[Any]) -> bytes:
    place = ("template", transaction.vault, person.person, row.version, row.model)
    return unseal(person.key, row.sealed, *place)
