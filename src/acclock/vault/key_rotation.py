"""New keys for old ones."""

import secrets
from dataclasses import replace

from sqlalchemy import update

from acclock.vault.connection import VaultConnection
from acclock.vault.database import scrub
from acclock.vault.people import VaultPerson, everybody, rewrite_person
from acclock.vault.records import pack_template, rotation
from acclock.vault.schema import recordings, templates, vaults
from acclock.vault.sealing import new_key, renew_row_macs
from acclock.vault.template_store import (
    packed_recordings,
    packed_templates,
    seal_recording,
    seal_template,
    unpack,
)
from acclock.vault.transaction import VaultTransaction


def rotate_keys(vault: VaultConnection) -> None:
    """Give the vault a new master key; the old one is destroyed and opens nothing any more.

    Both are stored before the vault changes, and the old one goes last, so that there is a key
    to the vault at every moment. Backups from before cannot be opened afterwards.
    """
    with vault.writing() as transaction:
        people = list(everybody(transaction))
        name, master = secrets.token_hex(16), new_key()
        vault.key_store.write({transaction.master_name: transaction.master, name: master})
        row_key = transaction.row_key
        transaction.master_name, transaction.master = name, master
        renew_row_macs(transaction.connection, row_key, transaction.row_key)
        for person in people:
            rewrite_person(transaction, person)
        _seal_secrets(transaction)
        transaction.log("keys rotated")
    forget_old_keys(vault)
    scrub(vault.engine)


def reissue(vault: VaultConnection) -> None:
    """Revoke every template and issue it anew: turned another way, under another key.

    Whoever stole one holds something that fits nothing any more.
    """
    with vault.writing() as transaction:
        after = replace(transaction, keys=replace(transaction.keys, turning=new_key()))
        for person in everybody(transaction):
            _issue_anew(transaction, after, person)
        transaction.keys = after.keys
        _seal_secrets(transaction)
        transaction.log("reissued")
    scrub(vault.engine)


def forget_old_keys(vault: VaultConnection) -> None:
    """Destroy the master keys that the vault no longer uses: the end of a rotation."""
    if len(vault.key_store.read()) > 1:
        with vault.writing() as transaction:  # nobody else rotates meanwhile
            vault.key_store.write({transaction.master_name: transaction.master})


def _issue_anew(before: VaultTransaction, after: VaultTransaction, person: VaultPerson) -> None:
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


def _seal_secrets(transaction: VaultTransaction) -> None:
    sealed = transaction.keys.sealed(transaction.master, transaction.vault, transaction.master_name)
    row = {"master": transaction.master_name, "secrets": sealed}
    transaction.connection.execute(update(vaults), row)
