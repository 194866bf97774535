"""The program ``acclock``: its commands, and where a refusal becomes one line and an exit code."""

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from acclock.cli.summaries import summarize
from acclock.errors import AccLockError

COMMANDS = {
    "demo": "demo",
    "enroll": "enroll",
    "verify": "verify",
    "monitor": "monitor",
    "grant": "grant",
    "check": "check",
    "keys": "keys",
    "serve": "serve",
    "token": "token",
    "identify": "identify",
    "list": "list_people",
    "show": "show_person",
    "update": "update",
    "rollback": "rollback",
    "migrate": "migrate",
    "remove": "remove",
    "export-person": "export_person",
    "backup": "backup",
    "restore": "restore",
    "rotate-keys": "rotate_keys",
    "accept-state": "accept_state",
    "info": "info",
    "plot": "plot",
    "denoise": "denoise",
    "simulate": "simulate",
    "train": "train",
    "adapt": "adapt",
    "export": "export",
    "cohort": "cohort",
    "evaluate": "evaluate",
    "experiment": "experiment",
    "doctor": "doctor",
}
"""What a command is called -> its module here, and the function of the same name in it."""


def build(names: Iterable[str]) -> typer.Typer:
    """Give the program with these commands, loading no others."""
    app = _begin()
    for name in names:
        module = COMMANDS[name]
        app.command(name)(getattr(import_module(f"acclock.cli.{module}"), module))
    return app


def outline() -> typer.Typer:
    """Give the program as its help shows it: every command by name and summary, none loaded."""
    app = _begin()
    for name, module in COMMANDS.items():
        app.command(name, help=summarize(module))(_say_nothing)
    return app


def _begin() -> typer.Typer:
    app = typer.Typer(
        name="acclock",
        help="Who wears the earphone? The heartbeat in its accelerometer tells.",
        epilog="Exit status: 0 yes, 1 no, 2 an error, 130 interrupted.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_begin_with)  # keeps the name of a command even when there is only one
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"acclock {version('acclock')}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
    ),
]


def _begin_with(*, version: Version = False) -> None:
    """Do nothing: the option acts by itself."""


def main() -> NoReturn:
    """Run one command and leave with its exit code."""
    try:
        code = _choose()(standalone_mode=False)
    except (AccLockError, OSError) as refusal:
        _leave(2, f"acclock: {refusal}")
    except typer.TyperException as misuse:
        said = misuse.format_message().removesuffix(".")  # empty when help was shown instead
        _leave(2, f"acclock: {said}; --help says more" if said else "")
    except (typer.Abort, KeyboardInterrupt):  # the second while a command is still being loaded
        _leave(130, "acclock: interrupted")
    sys.exit(code)


def _choose() -> typer.Typer:
    """Load no more commands than were asked for."""
    if "_ACCLOCK_COMPLETE" in os.environ:  # a shell wants to know every option of every command
        return build(COMMANDS)
    asked = sys.argv[1:2]
    return build(asked) if asked and asked[0] in COMMANDS else outline()


def _say_nothing() -> None:
    pass


def _leave(code: int, message: str) -> NoReturn:
    if message:
        print(message, file=sys.stderr)
    sys.exit(code)
