"""``acclock check``: whether a session is open, for PAM and other programs that rely on it."""

import json
from pathlib import Path
from typing import Annotated

import typer
from joserfc.jwk import Key, KeySet

from acclock.cli.grant import Socket
from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Name, VaultFolder
from acclock.errors import GrantError
from acclock.world.asking import default_socket
from acclock.world.assertions import ask_state
from acclock.world.settings import home_folder
from acclock.world.signing_keys import known_key

Keys = Annotated[
    Path | None, typer.Option(help="The monitor's public keys, from `acclock keys assertions`.")
]


def check(
    name: Name,
    *,
    socket: Socket = None,
    audience: Annotated[str, typer.Option(help="Who asks.")] = "check",
    timeout_s: Annotated[float, typer.Option("--timeout", help="Seconds to wait.")] = 1.0,
    keys: Keys = None,
    vault: VaultFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Is NAME's session open at this moment? Exits 0 for yes, 1 for no, 2 for an error."""
    key = _read(keys) if keys else known_key(vault or home_folder(), "assertions")
    said = ask_state(
        socket or default_socket(), name, key=key, audience=audience, timeout_s=timeout_s
    )
    show({"unlocked": said.unlocked, "reason": said.reason}, as_json=as_json)
    raise typer.Exit(0 if said.unlocked else 1)


def _read(keys: Path) -> Key | KeySet:
    try:
        return KeySet.import_key_set(json.loads(keys.read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        raise GrantError(f"{keys} holds no keys; `acclock keys assertions` prints them") from error
