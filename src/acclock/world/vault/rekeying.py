"""New keys for old ones."""

import secrets
from dataclasses import replace

from sqlalchemy import update

from acclock.world.vault.chamber import Chamber
from acclock.world.vault.database import scrub
from acclock.world.vault.people import Person, everybody, rewrite_person
from acclock.world.vault.records import pack_template
from acclock.world.vault.rotation import rotation
from acclock.world.vault.row_macs import renew_row_macs
from acclock.world.vault.sealing import new_key
from acclock.world.vault.shelf import (
    packed_recordings,
    packed_templates,
    seal_recording,
    seal_template,
    unpack,
)
from acclock.world.vault.tables import recordings, templates, vaults
from acclock.world.vault.visit import Visit


def rotate_keys(vault: Chamber) -> None:
    """Give the vault a new master key; the old one is destroyed and opens nothing any more.

    Both are stored before the vault changes, and the old one goes last, so that there is a key
    to the vault at every moment. Backups from before cannot be opened afterwards.
    """
    with vault.writing() as visit:
        people = list(everybody(visit))
        name, master = secrets.token_hex(16), new_key()
        vault.key_store.write({visit.master_name: visit.master, name: master})
        row_key = visit.row_key
        visit.master_name, visit.master = name, master
        renew_row_macs(visit.connection, row_key, visit.row_key)
        for person in people:
            rewrite_person(visit, person)
        _seal_secrets(visit)
        visit.log("keys rotated")
    forget_old_keys(vault)
    scrub(vault.engine)


def reissue(vault: Chamber) -> None:
    """Revoke every template and issue it anew: turned another way, under another key.

    Whoever stole one holds something that fits nothing any more.
    """
    with vault.writing() as visit:
        after = replace(visit, keys=replace(visit.keys, turning=new_key()))
        for person in everybody(visit):
            _issue_anew(visit, after, person)
        visit.keys = after.keys
        _seal_secrets(visit)
        visit.log("reissued")
    scrub(vault.engine)


def forget_old_keys(vault: Chamber) -> None:
    """Destroy the master keys that the vault no longer uses: the end of a rotation."""
    if len(vault.key_store.read()) > 1:
        with vault.writing() as visit:  # nobody else rotates meanwhile
            vault.key_store.write({visit.master_name: visit.master})


def _issue_anew(before: Visit, after: Visit, person: Person) -> None:
    again = replace(person, key=new_key())
    for version, model, packed in packed_templates(before, person):
        template = unpack(before, packed)
        turned = pack_template(template, rotation(after.keys.turning, template.center.size))
        place = (templates.c.person == person.person) & (templates.c.version == version)
        sealed = seal_template(after, again, version, model, turned)
        after.connection.execute(update(templates).where(place), {"sealed": sealed})
    for number, packed in packed_recordings(before, person):
        place = (recordings.c.person == person.person) & (recordings.c.number == number)
        sealed = seal_recording(after, again, number, packed)
        after.connection.execute(update(recordings).where(place), {"sealed": sealed})
    rewrite_person(after, again)


def _seal_secrets(visit: Visit) -> None:
    sealed = visit.keys.sealed(visit.master, visit.vault, visit.master_name)
    row = {"master": visit.master_name, "secrets": sealed}
    visit.connection.execute(update(vaults), row)
