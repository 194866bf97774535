"""``acclock identify``: who wears it."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Model, VaultFolder, open_desk
from acclock.world.files import read


def identify(
    file: Annotated[str, typer.Argument(help="A recording.")],
    *,
    model: Model = "default",
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Who of the enrolled wears FILE? Exits 0 when somebody is named, 1 for nobody."""
    desk = open_desk(vault, database, model)
    found = desk.identify(read(file, rate_hz=desk.embedder.card.rate_hz))
    show({"name": found.name or "unknown", "reason": found.reason}, as_json=as_json)
    raise typer.Exit(0 if found.name else 1)
