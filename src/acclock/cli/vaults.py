"""What the commands about people have in common: which vault, which model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.world.models.files import SHIPPED_HZ, name_model
from acclock.world.settings import home_folder, own_models, require_vault

if TYPE_CHECKING:
    from acclock.world.desk import Desk
    from acclock.world.vault.vault import Vault

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
    from acclock.world.vault.opening import open_vault as open_at

    return open_at(folder or home_folder(), url=database, create=create)


def name_known(fingerprint: str) -> str | None:
    """Give the name of the model that made a template, if it is shipped or in the settings."""
    return name_model(fingerprint, (*own_models(), *SHIPPED_HZ))


def open_desk(
    folder: Path | None, database: str | None, model: str | None, *, create: bool = False
) -> "Desk":
    """Open the vault with models beside it: the one that is named, those of the settings."""
    # so does the runtime of the model
    from acclock.world.desk import open_desk as open_beside

    own, vault = own_models(), open_vault(folder, database, create=create)
    return open_beside(vault, models=(model,) if model else own, known=own)
