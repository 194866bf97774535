"""``acclock grant``, ``check`` and ``keys``: who may open a session, and who may know."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from joserfc.jwk import Key, KeySet

from acclock.access.grants import issue_grant
from acclock.access.local_client import default_socket, request
from acclock.access.signed_tokens import request_state
from acclock.access.signing_keys import known_key, public_keys
from acclock.cli.show import JsonFlag, show
from acclock.cli.vault import Name, VaultFolder, find_folder
from acclock.errors import GrantError
from acclock.system.settings import home_folder

Socket = Annotated[Path | None, typer.Option(help="The monitor's socket.", envvar="ACCLOCK_SOCKET")]


def grant(
    name: Name,
    *,
    duration_s: Annotated[float, typer.Option("--for", help="Seconds that it holds.")] = 60.0,
    socket: Socket = None,
    vault: VaultFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Allow NAME's session to open, once another factor has shown who they are.

    The grant is signed, is good for one opening and goes to the running monitor; the heartbeat then
    sustains the session.
    """
    token = issue_grant(
        name, duration_s=duration_s, key=known_key(vault or home_folder(), "grants")
    )
    said = request(socket or default_socket(), {"ask": "grant", "grant": token})
    show({"granted": said.get("granted", name), "seconds": duration_s}, as_json=as_json)


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
    said = request_state(
        socket or default_socket(), name, key=key, audience=audience, timeout_s=timeout_s
    )
    show({"unlocked": said.unlocked, "reason": said.reason}, as_json=as_json)
    raise typer.Exit(0 if said.unlocked else 1)


def _read(keys: Path) -> Key | KeySet:
    try:
        return KeySet.import_key_set(json.loads(keys.read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        raise GrantError(f"{keys} holds no keys; `acclock keys assertions` prints them") from error


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
