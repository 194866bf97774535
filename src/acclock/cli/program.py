"""The program ``acclock``: its commands, and where a refusal becomes one line and an exit code."""

import ast
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, NoReturn, cast

import typer

from acclock.errors import AccLockError

if TYPE_CHECKING:
    from importlib.abc import InspectLoader


def summarize(place: str) -> str:
    """Give the first paragraph of the docstring of a command, by ``module:function``.

    >>> summarize("doctor:doctor")
    'Say what is installed, which extras are there and what would not work.'
    """
    module, _, function = place.partition(":")
    for statement in ast.parse(_read_source(f"acclock.cli.{module}")).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == function:
            return " ".join((ast.get_docstring(statement) or "").partition("\n\n")[0].split())
    return ""


def _read_source(name: str) -> str:
    spec = find_spec(name)
    if spec is None or not hasattr(spec.loader, "get_source"):
        return ""
    # there is none where only compiled files were installed
    return cast("InspectLoader", spec.loader).get_source(name) or ""


COMMANDS = {
    "demo": "demo:demo",
    "enroll": "recognition:enroll",
    "verify": "recognition:verify",
    "monitor": "monitor:monitor",
    "grant": "access:grant",
    "check": "access:check",
    "keys": "access:keys",
    "serve": "service:serve",
    "token": "service:token",
    "identify": "recognition:identify",
    "list": "people:list_people",
    "show": "people:show_person",
    "update": "recognition:update",
    "rollback": "people:rollback",
    "migrate": "people:migrate",
    "remove": "people:remove",
    "export-person": "people:export_person",
    "backup": "vault:backup",
    "restore": "vault:restore",
    "rotate-keys": "vault:rotate_keys",
    "accept-state": "vault:accept_state",
    "info": "recordings:info",
    "plot": "recordings:plot",
    "denoise": "recordings:denoise",
    "simulate": "recordings:simulate",
    "train": "training:train",
    "adapt": "training:adapt",
    "export": "training:export",
    "cohort": "training:cohort",
    "evaluate": "evaluate:evaluate",
    "experiment": "experiment:experiment",
    "doctor": "doctor:doctor",
}
"""What a command is called -> its module here, and the function in it."""


def build(names: Iterable[str]) -> typer.Typer:
    """Give the program with these commands, loading no others."""
    app = _begin()
    for name in names:
        module, _, function = COMMANDS[name].partition(":")
        app.command(name)(getattr(import_module(f"acclock.cli.{module}"), function))
    return app


def outline() -> typer.Typer:
    """Give the program as its help shows it: every command by name and summary, none loaded."""
    app = _begin()
    for name, place in COMMANDS.items():
        app.command(name, help=summarize(place))(_say_nothing)
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
