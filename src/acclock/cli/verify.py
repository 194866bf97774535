"""``acclock verify``: whether it is the person."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show_chosen
from acclock.cli.vaults import AskedModel, Database, Name, VaultFolder, open_desk
from acclock.world.files import read

Details = Annotated[
    bool, typer.Option(help="Show distance and threshold: they give the template away.")
]


def verify(
    name: Name,
    file: Annotated[str, typer.Argument(help="A recording.")],
    *,
    details: Details = False,
    model: AskedModel = None,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Is the wearer of FILE the person NAME? Exits 0 for yes, 1 for no, 2 for an error."""
    desk = open_desk(vault, database, model)
    chosen = desk.model_of(name, asked=model)
    verdict = desk.verify(name, read(file))
    facts = verdict.details() if details else verdict.summary()
    show_chosen(chosen, facts, as_json=as_json)
    raise typer.Exit(0 if verdict.accepted else 1)
