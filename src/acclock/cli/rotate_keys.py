"""``acclock rotate-keys``: every lock is changed."""

from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, VaultFolder, open_vault

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
    from acclock.world.vault import rekeying

    opened = open_vault(vault, database)
    (rekeying.reissue if reissue else rekeying.rotate_keys)(opened)
    show({"rotated": True, "reissued": reissue}, as_json=as_json)
