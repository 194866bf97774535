"""``acclock update``: a template follows its user."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show_chosen
from acclock.cli.vaults import AskedModel, Database, Name, VaultFolder, open_desk
from acclock.world.files import read


def update(
    name: Name,
    files: Annotated[list[str], typer.Argument(help="Recordings of the past week.")],
    *,
    model: AskedModel = None,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Move the template of NAME towards windows that are clearly theirs; exits 1 if it stayed."""
    desk = open_desk(vault, database, model)
    chosen = desk.model_of(name, asked=model)
    moved = desk.update(name, [read(file) for file in files])
    facts = {"changed": moved.changed, "reason": moved.reason, "drift": round(moved.drift, 3)}
    show_chosen(chosen, facts, as_json=as_json)
    raise typer.Exit(0 if moved.changed else 1)
