"""``acclock enroll``: somebody becomes known."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show_chosen
from acclock.cli.vaults import Database, Model, Name, VaultFolder, open_desk
from acclock.world.files import read

Files = Annotated[list[str], typer.Argument(help="Recordings of this person alone.")]
Keep = Annotated[bool, typer.Option(help="Keep the recordings, for `acclock migrate`.")]
Extra = Annotated[bool, typer.Option("--add", help="Add windows, as of talking, to the template.")]

_RULE_HELP = (
    "How the threshold is chosen: likelihood (usual), paper, leave-one-out, wanted-far or as-norm."
)


def enroll(
    name: Name,
    files: Files,
    *,
    rule: Annotated[str | None, typer.Option(help=_RULE_HELP)] = None,
    keep: Keep = False,
    add: Extra = False,
    model: Model = None,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Enroll NAME from recordings: six minutes are a full enrollment, two are a light start."""
    desk = open_desk(vault, database, model, create=not add)
    recordings = [read(file) for file in files]
    if add:
        chosen = desk.model_of(name, asked=model)
        person = desk.extend(name, recordings, keep=keep)
        facts = {"enrolled": person.name, "version": person.version}
        show_chosen(chosen, facts, as_json=as_json)
        return
    enrolled = desk.enroll(name, recordings, rule=rule, keep=keep)
    progress = enrolled.progress
    facts = {
        "enrolled": enrolled.person.name,
        "good_windows": progress.good,
        "complete": progress.complete,
        "predicted_false_rejects": progress.predicted_frr,
        "version": enrolled.person.version,
    }
    show_chosen(enrolled.chosen, facts, as_json=as_json)
