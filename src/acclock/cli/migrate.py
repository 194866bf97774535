"""``acclock migrate``: templates are carried over to another model."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, Model, VaultFolder, name_known, open_desk
from acclock.errors import ConfigError

Names = Annotated[list[str] | None, typer.Argument(help="Who.")]
Everybody = Annotated[bool, typer.Option("--all", help="Everybody who is enrolled.")]


def migrate(
    names: Names = None,
    *,
    everybody: Everybody = False,
    model: Model = None,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Enroll NAMES anew by another model, from the recordings that `enroll --keep` kept.

    Without --model it is the one that would enroll from these recordings now. The old template
    stays as an older version (`acclock rollback`). Exits 1 when somebody has to enroll again.
    """
    if bool(names) == everybody:
        raise ConfigError("say whose templates are carried over: names, or --all for everybody")
    done = open_desk(vault, database, model).migrate(names or None)
    facts = {
        "migrated": [
            {
                "name": person.name,
                "version": person.version,
                "model": model or name_known(person.model) or person.model[:12],
            }
            for person in done.migrated
        ],
        "had_that_model": list(done.unchanged),
        "left_as_they_were": [
            {"name": name, "reason": reason} for name, reason in done.waiting.items()
        ],
    }
    show(facts, as_json=as_json)
    raise typer.Exit(1 if done.waiting else 0)
