"""``acclock export-person``: all that is stored about somebody."""

import json
from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Name, VaultFolder, open_vault
from acclock.errors import UnwritableError
from acclock.world.replacing import replacing


def export_person(
    name: Name,
    out: Annotated[Path, typer.Argument(help="A new .json file.")],
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Write all that is stored about NAME to OUT, for them to have."""
    if out.exists():
        raise UnwritableError(f"{out} is already there; export into a new file")
    told = open_vault(vault, database).export(name)
    with replacing(out) as file:
        file.write(json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n")
    show({"written": str(out)}, as_json=as_json)
