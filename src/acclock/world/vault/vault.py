"""The vault as everybody else sees it: people and their templates, by name."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from acclock.errors import VaultError
from acclock.matching.template import Template
from acclock.values import Recording
from acclock.world.vault.audit import Event
from acclock.world.vault.chamber import Chamber
from acclock.world.vault.database import scrub
from acclock.world.vault.names import checked
from acclock.world.vault.people import (
    Person,
    delete_person,
    everybody,
    find,
    insert_people,
    refuse_taken,
    rewrite_person,
)
from acclock.world.vault.records import readable, unpack_recording
from acclock.world.vault.reserve import largest_content
from acclock.world.vault.sealing import new_key
from acclock.world.vault.shelf import (
    keep_recordings,
    load_template,
    packed_recordings,
    packed_templates,
    store_templates,
)
from acclock.world.vault.visit import Visit, read_log


class Vault(Chamber):
    """People and their templates. Every method is one transaction: on the disk, or not at all.

    Made by :func:`acclock.world.vault.opening.open_vault`.
    """

    def add(
        self,
        name: str,
        template: Template,
        *,
        keep: Sequence[Recording] = (),
        consent: str | None = None,
    ) -> Person:
        """Enroll somebody. ``keep`` is what they agreed to have kept, for another model.

        ``consent`` is what they agreed to: the log has it before them, or neither is there.
        """

        def work(visit: Visit) -> Person:
            note = None
            if consent is not None:
                visit.log("consented", note=consent)
                note = f"consent is event {visit.events}"
            (person,) = _add(visit, {name: template}, note=note)
            keep_recordings(visit, person, keep)
            return person

        person = self.write(work)
        if keep:
            self.reserve.refill(largest_content(self.engine))
        return person

    def add_all(self, templates: Mapping[str, Template]) -> list[Person]:
        """Enroll many people at once: all of them, or none."""
        return self.write(lambda visit: _add(visit, templates))

    def people(self) -> list[Person]:
        """Give everybody, by name."""
        with self.reading() as visit:
            return sorted(everybody(visit), key=lambda person: person.name)

    def person(self, name: str) -> Person:
        """Look somebody up."""
        with self.reading() as visit:
            return find(visit, name)

    def template(self, name: str, version: int | None = None) -> Template:
        """Load somebody's template; the newest version unless told."""
        with self.reading() as visit:
            return load_template(visit, find(visit, name), version)

    def kept(self, name: str) -> list[Recording]:
        """Load the recordings that somebody agreed to have kept."""
        with self.reading() as visit:
            packed = packed_recordings(visit, find(visit, name))
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
    ) -> Person:
        """Store somebody's next version, unless the one it was made from is no longer the newest.

        ``kind`` is what the log says: updated, grown, extended, migrated, enrolled again. ``keep``
        are further recordings that they agreed to have kept.
        """

        def work(visit: Visit) -> Person:
            before = find(visit, name)
            if before.version != after:
                raise VaultError(
                    f"{before.name} changed meanwhile: version {before.version}, not {after}"
                )
            person = replace(before, version=after + 1, model=template.model)
            rewrite_person(visit, person)
            store_templates(visit, [(person, template)])
            keep_recordings(visit, person, keep)
            visit.log(kind, person=person.person, version=person.version, note=note)
            return person

        return self.write(work)

    def roll_back(self, name: str, version: int) -> Person:
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
            with self.writing() as visit:
                person = find(visit, name)
                delete_person(visit, person)
                visit.log("removed", person=person.person)
            return scrub(self.engine)

    def export(self, name: str) -> dict[str, object]:
        """Give all that is stored about somebody as plain values, ready for JSON.

        Centers are as they are stored, turned by the vault's secret rotation: they fit no other
        system. Recordings are those that the person agreed to have kept.
        """
        with self.writing() as visit:
            person = find(visit, name)
            visit.log("exported", person=person.person)
            versions = packed_templates(visit, person)
            recordings = packed_recordings(visit, person)
        return {
            "name": person.name,
            "person": person.person,
            "created": person.created.isoformat(),
            "templates": [{"version": number} | readable(packed) for number, _, packed in versions],
            "recordings": [readable(packed) for _, packed in recordings],
            "events": [event.as_dict() for event in self.events(person=person.person)],
        }

    def events(self, *, person: str | None = None) -> list[Event]:
        """Read the log, of everybody or of one, after following its chain from the beginning."""
        with self.reading() as visit:
            read = read_log(visit)
        return [event for event in read if person is None or event.person == person]


def _add(visit: Visit, wanted: Mapping[str, Template], *, note: str | None = None) -> list[Person]:
    newcomers = [
        Person(
            person=secrets.token_hex(16),
            key=new_key(),
            name=checked(name),
            created=visit.now,
            version=1,
            model=template.model,
        )
        for name, template in wanted.items()
    ]
    refuse_taken(visit, (person.name for person in newcomers))
    insert_people(visit, newcomers)
    store_templates(visit, zip(newcomers, wanted.values(), strict=True))
    for person in newcomers:
        visit.log("enrolled", person=person.person, version=1, note=note)
    return newcomers
