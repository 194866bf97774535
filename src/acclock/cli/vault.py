"""``acclock backup``, ``restore``, ``rotate-keys``; which vault all commands mean."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.errors import ConfigError
from acclock.models.files import SHIPPED_HZ, name_model
from acclock.system.settings import home_folder, own_models, require_vault

if TYPE_CHECKING:
    from acclock.recognizer import Recognizer
    from acclock.vault.vault import Vault

VaultFolder = Annotated[
    Path | None, typer.Option("--vault", help="Folder of the vault.", envvar="ACCLOCK_HOME")
]
Database = Annotated[
    str | None, typer.Option(help="postgresql://... in place of a file.", envvar="ACCLOCK_DATABASE")
]
Model = Annotated[
    str | None,
    typer.Option(help="A shipped model by name, or a file; else ACCLOCK_MODEL, else by the rate."),
]
AskedModel = Annotated[
    str | None,
    typer.Option(help="Must be what enrolled them, which is found without it."),
]
Name = Annotated[str, typer.Argument(help="Who.")]


def find_folder(folder: Path | None) -> Path:
    """Give the folder of the vault that the option names, or this user's own; it must be there."""
    return require_vault(folder or home_folder())


def open_vault(folder: Path | None, database: str | None, *, create: bool = False) -> "Vault":
    """Open the vault that the options name, or this user's own; a typo does not make one."""
    # the database takes half a second to load; only who needs the vault should wait for it
    from acclock.vault.opening import open_vault as open_at

    return open_at(folder or home_folder(), url=database, create=create)


def name_known(fingerprint: str) -> str | None:
    """Give the name of the model that made a template, if it is shipped or in the settings."""
    return name_model(fingerprint, (*own_models(), *SHIPPED_HZ))


def open_recognizer(
    folder: Path | None, database: str | None, model: str | None, *, create: bool = False
) -> "Recognizer":
    """Open the vault with models beside it: the one that is named, those of the settings."""
    # so does the runtime of the model
    from acclock.recognizer import open_recognizer as open_beside

    own, vault = own_models(), open_vault(folder, database, create=create)
    return open_beside(vault, models=(model,) if model else own, known=own)


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking, as in a script.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask on the terminal, and leave with 1 when the answer is no; ``yes`` has answered already."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError("this cannot be undone, and there is no terminal to ask at: add --yes")
    if not typer.confirm(question, err=True):
        print("nothing was changed", file=sys.stderr)
        raise typer.Exit(1)


def backup(
    out: Annotated[Path, typer.Argument(help="The copy; it needs the same key to be read.")],
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Copy the vault as it is at this moment, also while it is in use."""
    # loads the database, which only commands about people should wait for
    from acclock.vault.backup import back_up

    back_up(open_vault(vault, database), out)
    show({"written": str(out)}, as_json=as_json)


def restore(
    backup: Annotated[Path, typer.Argument(help="What `acclock backup` wrote.")],
    *,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Put a backup in the place of the vault, once all of it was opened and checked."""
    # loads the database, which only commands about people should wait for
    from acclock.vault.backup import restore as restore_into

    restored = restore_into(backup, vault or home_folder(), url=database)
    show({"restored": True, "people": len(restored.people())}, as_json=as_json)


Reissue = Annotated[
    bool, typer.Option(help="Also turn all templates, so that stolen ones are void.")
]


def rotate_keys(
    *,
    reissue: Reissue = False,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Put a new master key in the place of the old one."""
    # loads the database, which only commands about people should wait for
    from acclock.vault import key_rotation

    opened = open_vault(vault, database)
    (key_rotation.reissue if reissue else key_rotation.rotate_keys)(opened)
    show({"rotated": True, "reissued": reissue}, as_json=as_json)


def accept_state(
    *,
    yes: Yes = False,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Accept a vault without its file vault.head as it is now, once; the log keeps that.

    Do it only when you know that nobody put an older copy in its place: people who were removed
    since would be back. A replica is better given the vault.head of another.
    """
    # loads the database, which only commands about people should wait for
    from acclock.vault.opening import accept_state as accept

    folder = vault or home_folder()
    confirm(f"Accept the vault at {folder} as it is, not knowing whether it is older?", yes=yes)
    with accept(folder, url=database) as opened:
        show({"accepted": True, "people": len(opened.people())}, as_json=as_json)
