"""``acclock remove``: somebody is forgotten."""

from acclock.cli.confirming import Yes, confirm
from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Name, VaultFolder, open_vault


def remove(
    name: Name,
    *,
    yes: Yes = False,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Forget NAME: their key is destroyed, and their bytes are taken out of the files.

    It asks first. Without a terminal it needs --yes.
    """
    with open_vault(vault, database) as opened:
        person = opened.person(name)
        confirm(f"Forget {person.name}, who has to enroll again to be known?", yes=yes)
        erased = opened.remove(name)
    show({"removed": person.name, "bytes_erased": erased}, as_json=as_json)
