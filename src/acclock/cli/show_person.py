"""``acclock show``: what is known of somebody."""

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Name, VaultFolder, name_known, open_vault


def show_person(
    name: Name,
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what is stored about NAME, without anything of the template itself."""
    opened = open_vault(vault, database)
    person, template = opened.person(name), opened.template(name)
    facts = {
        "name": person.name,
        "enrolled": template.enrolled.isoformat(timespec="seconds"),
        "updated": template.updated.isoformat(timespec="seconds"),
        "version": person.version,
        "windows": template.windows,
        "still_growing": template.growing,
        "model": name_known(person.model) or "not here",
        "model_fingerprint": person.model,
        "events": [
            f"{event.time:%Y-%m-%d %H:%M} {event.kind}"
            for event in opened.events(person=person.person)
        ],
    }
    show(facts, as_json=as_json)
