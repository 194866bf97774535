"""``acclock grant``: another factor opens a session."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Name, VaultFolder
from acclock.world.asking import ask, default_socket
from acclock.world.grants import issue_grant
from acclock.world.settings import home_folder
from acclock.world.signing_keys import known_key

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
    said = ask(socket or default_socket(), {"ask": "grant", "grant": token})
    show({"granted": said.get("granted", name), "seconds": duration_s}, as_json=as_json)
