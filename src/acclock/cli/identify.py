"""``acclock identify``: who wears it."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import AskedModel, Database, VaultFolder, open_desk
from acclock.world.files import read


def identify(
    file: Annotated[str, typer.Argument(help="A recording.")],
    *,
    model: AskedModel = None,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Who of the enrolled wears FILE? Exits 0 when somebody is named, 1 for nobody.

    Everybody is compared by the model that they were enrolled with; those whose model cannot read
    the recording are named.
    """
    desk = open_desk(vault, database, model)
    found = desk.identify(read(file), asked=model)
    facts = {
        "name": found.name or "unknown",
        "reason": found.reason,
        "not_compared": [{"name": name, "reason": why} for name, why in found.uncompared.items()],
    }
    show(facts, as_json=as_json)
    raise typer.Exit(0 if found.name else 1)
