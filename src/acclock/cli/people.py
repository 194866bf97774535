"""``acclock list``, ``show``, ``export-person``, ``rollback``, ``remove``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vault import (
    Database,
    Model,
    Name,
    VaultFolder,
    Yes,
    confirm,
    name_known,
    open_recognizer,
    open_vault,
)
from acclock.errors import ConfigError, UnwritableError
from acclock.system.files import replacing


def list_people(
    *, vault: VaultFolder = None, database: Database = None, as_json: JsonFlag = False
) -> None:
    """Name everybody who is enrolled."""
    people = open_vault(vault, database).people()
    named = [
        {
            "name": person.name,
            "since": person.created.date().isoformat(),
            "version": person.version,
            "model": name_known(person.model) or person.model[:12],
        }
        for person in people
    ]
    show({"people": named or "nobody is enrolled"}, as_json=as_json)


def show_person(
    name: Name,
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what is stored about NAME, without anything of the template itself."""
    opened = open_vault(vault, database)
    person, template = opened.person(name), opened.template(name)
    facts = {
        "name": person.name,
        "enrolled": template.enrolled.isoformat(timespec="seconds"),
        "updated": template.updated.isoformat(timespec="seconds"),
        "version": person.version,
        "windows": template.windows,
        "still_growing": template.growing,
        "model": name_known(person.model) or "not here",
        "model_fingerprint": person.model,
        "events": [
            f"{event.time:%Y-%m-%d %H:%M} {event.kind}"
            for event in opened.events(person=person.person)
        ],
    }
    show(facts, as_json=as_json)


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


def remove(
    name: Name,
    *,
    yes: Yes = False,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Forget NAME: their key is destroyed, and their bytes are taken out of the files.

    It asks first. Without a terminal it needs --yes.
    """
    with open_vault(vault, database) as opened:
        person = opened.person(name)
        confirm(f"Forget {person.name}, who has to enroll again to be known?", yes=yes)
        erased = opened.remove(name)
    show({"removed": person.name, "bytes_erased": erased}, as_json=as_json)


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
    done = open_recognizer(vault, database, model).migrate(names or None)
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
