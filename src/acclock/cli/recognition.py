"""``acclock enroll``, ``verify``, ``identify`` and ``update``: people and their heartbeats."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show, show_chosen
from acclock.cli.vault import AskedModel, Database, Model, Name, VaultFolder, open_recognizer
from acclock.recordings import read

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
    recognizer = open_recognizer(vault, database, model, create=not add)
    recordings = [read(file) for file in files]
    if add:
        chosen = recognizer.model_of(name, asked=model)
        person = recognizer.extend(name, recordings, keep=keep)
        facts = {"enrolled": person.name, "version": person.version}
        show_chosen(chosen, facts, as_json=as_json)
        return
    enrolled = recognizer.enroll(name, recordings, rule=rule, keep=keep)
    progress = enrolled.progress
    facts = {
        "enrolled": enrolled.person.name,
        "good_windows": progress.good,
        "complete": progress.complete,
        "predicted_false_rejects": progress.predicted_frr,
        "version": enrolled.person.version,
    }
    show_chosen(enrolled.chosen, facts, as_json=as_json)


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
    recognizer = open_recognizer(vault, database, model)
    chosen = recognizer.model_of(name, asked=model)
    verdict = recognizer.verify(name, read(file))
    facts = verdict.details() if details else verdict.summary()
    show_chosen(chosen, facts, as_json=as_json)
    raise typer.Exit(0 if verdict.accepted else 1)


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
    recognizer = open_recognizer(vault, database, model)
    found = recognizer.identify(read(file), asked=model)
    facts = {
        "name": found.name or "unknown",
        "reason": found.reason,
        "not_compared": [{"name": name, "reason": why} for name, why in found.uncompared.items()],
    }
    show(facts, as_json=as_json)
    raise typer.Exit(0 if found.name else 1)


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
    recognizer = open_recognizer(vault, database, model)
    chosen = recognizer.model_of(name, asked=model)
    moved = recognizer.update(name, [read(file) for file in files])
    facts = {"changed": moved.changed, "reason": moved.reason, "drift": round(moved.drift, 3)}
    show_chosen(chosen, facts, as_json=as_json)
    raise typer.Exit(0 if moved.changed else 1)
