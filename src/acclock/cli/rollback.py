"""``acclock rollback``: an older version of a template counts again."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Name, VaultFolder, open_vault


def rollback(
    name: Name,
    version: Annotated[int, typer.Argument(help="Which version; `acclock show` names the last.")],
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an older VERSION of the template of NAME the newest; nothing in between is lost."""
    person = open_vault(vault, database).roll_back(name, version)
    show({"name": person.name, "version": person.version}, as_json=as_json)
