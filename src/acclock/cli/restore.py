"""``acclock restore``: a copy becomes the vault."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, VaultFolder
from acclock.world.settings import home_folder


def restore(
    backup: Annotated[Path, typer.Argument(help="What `acclock backup` wrote.")],
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Put a backup in the place of the vault, once all of it was opened and checked."""
    # loads the database, which only commands about people should wait for
    from acclock.world.vault.restoring import restore as restore_into

    restored = restore_into(backup, vault or home_folder(), url=database)
    show({"restored": True, "people": len(restored.people())}, as_json=as_json)
