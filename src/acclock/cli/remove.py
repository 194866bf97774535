"""``acclock remove``: somebody is forgotten."""

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Name, VaultFolder, open_vault


def remove(
    name: Name,
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Forget NAME: their key is destroyed, and their bytes are taken out of the files."""
    erased = open_vault(vault, database).remove(name)
    show({"removed": name, "bytes_erased": erased}, as_json=as_json)
