"""The vault as everybody else sees it: people and their templates, by name."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from acclock.errors import VaultError
from acclock.matching.template import Template
from acclock.values import Recording
from acclock.vault.audit import AuditRecord
from acclock.vault.connection import VaultConnection
from acclock.vault.database import scrub
from acclock.vault.names import checked
from acclock.vault.people import (
    VaultPerson,
    delete_person,
    everybody,
    find,
    insert_people,
    refuse_taken,
    rewrite_person,
)
from acclock.vault.records import readable, unpack_recording
from acclock.vault.reserve import largest_content
from acclock.vault.sealing import new_key
from acclock.vault.template_store import (
    keep_recordings,
    load_template,
    packed_recordings,
    packed_templates,
    store_templates,
)
from acclock.vault.transaction import VaultTransaction, read_log


class Vault(VaultConnection):
    """People and their templates. Every method is one transaction: on the disk, or not at all.

    Made by :func:`acclock.vault.opening.open_vault`.
    """

    def add(
        self,
        name: str,
        template: Template,
        *,
        keep: Sequence[Recording] = (),
        consent: str | None = None,
    ) -> VaultPerson:
        """Enroll somebody. ``keep`` is what they agreed to have kept, for another model.

        ``consent`` is what they agreed to: the log has it before them, or neither is there.
        """

        def work(transaction: VaultTransaction) -> VaultPerson:
            note = None
            if consent is not None:
                transaction.log("consented", note=consent)
                note = f"consent is event {transaction.events}"
            (person,) = _add(transaction, {name: template}, note=note)
            keep_recordings(transaction, person, keep)
            return person

        person = self.write(work)
        if keep:
            self.reserve.refill(largest_content(self.engine))
        return person

    def add_all(self, templates: Mapping[str, Template]) -> list[VaultPerson]:
        """Enroll many people at once: all of them, or none."""
        return self.write(lambda transaction: _add(transaction, templates))

    def people(self) -> list[VaultPerson]:
        """Give everybody, by name."""
        with self.reading() as transaction:
            return sorted(everybody(transaction), key=lambda person: person.name)

    def person(self, name: str) -> VaultPerson:
        """Look somebody up."""
        with self.reading() as transaction:
            return find(transaction, name)

    def template(self, name: str, version: int | None = None) -> Template:
        """Load somebody's template; the newest version unless told."""
        with self.reading() as transaction:
            return load_template(transaction, find(transaction, name), version)

    def kept(self, name: str) -> list[Recording]:
        """Load the recordings that somebody agreed to have kept."""
        with self.reading() as transaction:
            packed = packed_recordings(transaction, find(transaction, name))
        return [unpack_recording(content) for _, content in packed]

    def revise(
        self,
        name: str,
        template: Template,
        *,
        after: int,
        kind: str = "updated",
        note: str | None = None,
        keep: Sequence[Recording] = (),
    ) -> VaultPerson:
        """Store somebody's next version, unless the one it was made from is no longer the newest.

        ``kind`` is what the log says: updated, grown, extended, migrated, enrolled again. ``keep``
        are further recordings that they agreed to have kept.
        """

        def work(transaction: VaultTransaction) -> VaultPerson:
            before = find(transaction, name)
            if before.version != after:
                raise VaultError(
                    f"{before.name} changed meanwhile: version {before.version}, not {after}"
                )
            person = replace(before, version=after + 1, model=template.model)
            rewrite_person(transaction, person)
            store_templates(transaction, [(person, template)])
            keep_recordings(transaction, person, keep)
            transaction.log(kind, person=person.person, version=person.version, note=note)
            return person

        return self.write(work)

    def roll_back(self, name: str, version: int) -> VaultPerson:
        """Make an older version the newest again; nothing in between is lost."""
        before = self.person(name)
        template = self.template(name, version)
        return self.revise(
            name, template, after=before.version, kind=f"rolled back to version {version}"
        )

    def remove(self, name: str) -> bool:
        """Delete somebody, their key first of all; tell whether the bytes are gone from the files.

        They are gone later, and surely, when another program holds on to them just now. It works
        on a full disk too, in the room that is kept for it.
        """
        with self.reserve.lent(self.engine):
            with self.writing() as transaction:
                person = find(transaction, name)
                delete_person(transaction, person)
                transaction.log("removed", person=person.person)
            return scrub(self.engine)

    def export(self, name: str) -> dict[str, object]:
        """Give all that is stored about somebody as plain values, ready for JSON.

        Centers are as they are stored, turned by the vault's secret rotation: they fit no other
        system. Recordings are those that the person agreed to have kept.
        """
        with self.writing() as transaction:
            person = find(transaction, name)
            transaction.log("exported", person=person.person)
            versions = packed_templates(transaction, person)
            recordings = packed_recordings(transaction, person)
        return {
            "name": person.name,
            "person": person.person,
            "created": person.created.isoformat(),
            "templates": [{"version": number} | readable(packed) for number, _, packed in versions],
            "recordings": [readable(packed) for _, packed in recordings],
            "events": [event.as_dict() for event in self.events(person=person.person)],
        }

    def events(self, *, person: str | None = None) -> list[AuditRecord]:
        """Read the log, of everybody or of one, after following its chain from the beginning."""
        with self.reading() as transaction:
            read = read_log(transaction)
        return [event for event in read if person is None or event.person == person]


def _add(
    transaction: VaultTransaction, wanted: Mapping[str, Template], *, note: str | None = None
) -> list[VaultPerson]:
    newcomers = [
        VaultPerson(
            person=secrets.token_hex(16),
            key=new_key(),
            name=checked(name),
            created=transaction.now,
            version=1,
            model=template.model,
        )
        for name, template in wanted.items()
    ]
    refuse_taken(transaction, (person.name for person in newcomers))
    insert_people(transaction, newcomers)
    store_templates(transaction, zip(newcomers, wanted.values(), strict=True))
    for person in newcomers:
        transaction.log("enrolled", person=person.person, version=1, note=note)
    return newcomers
