"""``acclock list``: who is enrolled."""

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, VaultFolder, name_known, open_vault


def list_people(
    *, vault: VaultFolder = None, database: Database = None, as_json: JsonFlag = False
) -> None:
    """Name everybody who is enrolled."""
    people = open_vault(vault, database).people()
    named = [
        {
            "name": person.name,
            "since": person.created.date().isoformat(),
            "version": person.version,
            "model": name_known(person.model) or person.model[:12],
        }
        for person in people
    ]
    show({"people": named or "nobody is enrolled"}, as_json=as_json)
