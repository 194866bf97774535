"""How a command asks before it does what cannot be undone."""

import sys
from typing import Annotated

import typer

from acclock.errors import ConfigError

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
