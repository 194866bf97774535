"""``acclock backup``: a copy of the vault."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, VaultFolder, open_vault


def backup(
    out: Annotated[Path, typer.Argument(help="The copy; it needs the same key to be read.")],
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Copy the vault as it is at this moment, also while it is in use."""
    # loads the database, which only commands about people should wait for
    from acclock.world.vault.backup import back_up

    back_up(open_vault(vault, database), out)
    show({"written": str(out)}, as_json=as_json)
