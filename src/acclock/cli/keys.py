"""``acclock keys``: the public keys, for who must check what AccLock signs."""

from enum import StrEnum
from typing import Annotated

import typer

from acclock.cli.show import show
from acclock.cli.vaults import VaultFolder, find_folder
from acclock.world.signing_keys import public_keys


class Purpose(StrEnum):
    """What a key signs."""

    EVENTS = "events"
    ASSERTIONS = "assertions"
    GRANTS = "grants"


def keys(
    purpose: Annotated[Purpose, typer.Argument(help="What they sign.")] = Purpose.EVENTS,
    *,
    vault: VaultFolder = None,
) -> None:
    """Print the public keys that events, assertions or grants are signed with, as a JWKS."""
    show(public_keys(find_folder(vault), purpose.value), as_json=True)
