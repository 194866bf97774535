"""Everybody in a vault, held in memory to identify a wearer, or enrolled anew by another model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from numpy.typing import ArrayLike
from sqlalchemy import select

from acclock.errors import EnrollmentError, ModelError, SignalError, TooFewError
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.matching.verification import Identification, Index
from acclock.values import Recording
from acclock.vault.audit import AuditRecord, parse_event
from acclock.vault.people import VaultPerson, open_row
from acclock.vault.schema import events, people
from acclock.vault.template_store import load_everybody, load_template
from acclock.vault.transaction import VaultTransaction
from acclock.vault.vault import Vault


class Identifier:
    """An index over the people of one model. Making one is the decision to have it in memory.

    Before it answers it asks the vault for news, so that whoever was removed, by this program or
    another, is not known any more.
    """

    def __init__(self, vault: Vault, *, model: str) -> None:
        self._vault = vault
        self._model = model
        self._index = Index()
        self._names: dict[str, str] = {}
        self._seen = 0

    def __len__(self) -> int:
        self._catch_up()
        return len(self._index)

    def identify(
        self,
        embeddings: ArrayLike,
        *,
        faults: Sequence[str | None] | None = None,
        cohort: Cohort | None = None,
    ) -> Identification:
        """Name the one person whose template accepts these windows, or nobody."""
        self._catch_up()
        found = self._index.identify(embeddings, faults=faults, cohort=cohort)
        return found if found.name is None else replace(found, name=self._names[found.name])

    def _catch_up(self) -> None:
        with self._vault.reading() as transaction:
            if transaction.events == self._seen:
                return
            news = _read_events(transaction, self._seen)
            if self._seen == 0 or any(event.kind == "restored" for event in news):
                self._index, self._names = Index(), {}
                for person, template in load_everybody(transaction):
                    self._take(person, template)
            else:
                for number in {event.person for event in news if event.person is not None}:
                    self._look_again(transaction, number)
            self._seen = transaction.events

    def _look_again(self, transaction: VaultTransaction, number: str) -> None:
        row = transaction.connection.execute(
            select(people).where(people.c.person == number)
        ).first()
        if row is None:
            self._index.discard(number)
            self._names.pop(number, None)
        else:
            person = open_row(transaction, row)
            self._take(person, load_template(transaction, person))

    def _take(self, person: VaultPerson, template: Template) -> None:
        self._index.discard(person.person)
        if person.model == self._model:
            self._index.put(person.person, template)
            self._names[person.person] = person.name


def _read_events(transaction: VaultTransaction, seen: int) -> list[AuditRecord]:
    query = select(events.c.body).where(events.c.number > seen).order_by(events.c.number)
    return [parse_event(body) for body in transaction.connection.execute(query).scalars()]


Remake = Callable[[Sequence[Recording], Template], Template | None]
"""Makes a template of recordings as the old one was made; nothing where it would be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Whose template was carried over, who had that model already, and who was left alone."""

    migrated: tuple[VaultPerson, ...]
    unchanged: tuple[str, ...]
    waiting: Mapping[str, str]
    """Who could not be carried over, and what to do about it. Their template is as it was."""


def migrate(vault: Vault, people: Sequence[VaultPerson], *, remake: Remake) -> Migration:
    """Bring people to another model, each by one transaction: carried over, or as before.

    The old template stays as an older version, to roll back to. It can be interrupted and run
    again.
    """
    migrated, unchanged, waiting = list[VaultPerson](), list[str](), dict[str, str]()
    for person in people:
        try:
            after = _remake(vault, person, remake)
        except (EnrollmentError, ModelError, SignalError, TooFewError) as refusal:
            waiting[person.name] = f"{refusal}; {_enroll_again(person)}"
            continue
        if after is None:
            unchanged.append(person.name)
            continue
        note = f"from model {person.model[:12]} to {after.model[:12]}"
        migrated.append(
            vault.revise(person.name, after, after=person.version, kind="migrated", note=note)
        )
    return Migration(migrated=tuple(migrated), unchanged=tuple(unchanged), waiting=waiting)


def _remake(vault: Vault, person: VaultPerson, remake: Remake) -> Template | None:
    if not (kept := vault.kept(person.name)):
        raise EnrollmentError("no recording of theirs was kept")
    return remake(kept, vault.template(person.name, person.version))


def _enroll_again(person: VaultPerson) -> str:
    name = quote(person.name)
    return f"to enroll them again: `acclock remove {name}`, `acclock enroll {name} FILE --keep`"
