"""The program ``acclock``: its commands, and where a refusal becomes one line and an exit code."""

import sys
from collections.abc import Callable
from typing import NoReturn

import typer

from acclock.cli.adapt import adapt
from acclock.cli.backup import backup
from acclock.cli.cohort import cohort
from acclock.cli.demo import demo
from acclock.cli.denoise import denoise
from acclock.cli.doctor import doctor
from acclock.cli.enroll import enroll
from acclock.cli.evaluate import evaluate
from acclock.cli.export import export
from acclock.cli.export_person import export_person
from acclock.cli.identify import identify
from acclock.cli.info import info
from acclock.cli.list_people import list_people
from acclock.cli.plot import plot
from acclock.cli.remove import remove
from acclock.cli.restore import restore
from acclock.cli.rollback import rollback
from acclock.cli.rotate_keys import rotate_keys
from acclock.cli.show_person import show_person
from acclock.cli.simulate import simulate
from acclock.cli.train import train
from acclock.cli.update import update
from acclock.cli.verify import verify
from acclock.errors import AccLockError

app = typer.Typer(
    name="acclock",
    help="Who wears the earphone? The heartbeat in its accelerometer tells.",
    epilog="Exit status: 0 yes, 1 no, 2 an error, 130 interrupted.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "enroll": enroll,
    "verify": verify,
    "identify": identify,
    "list": list_people,
    "show": show_person,
    "update": update,
    "rollback": rollback,
    "remove": remove,
    "export-person": export_person,
    "backup": backup,
    "restore": restore,
    "rotate-keys": rotate_keys,
    "info": info,
    "plot": plot,
    "denoise": denoise,
    "simulate": simulate,
    "train": train,
    "adapt": adapt,
    "export": export,
    "cohort": cohort,
    "evaluate": evaluate,
    "doctor": doctor,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def main() -> NoReturn:
    """Run one command and leave with its exit code."""
    try:
        code = app(standalone_mode=False)
    except (AccLockError, OSError) as refusal:
        _leave(2, f"acclock: {refusal}")
    except typer.TyperException as misuse:
        said = misuse.format_message().removesuffix(".")  # empty when help was shown instead
        _leave(2, f"acclock: {said}; --help says more" if said else "")
    except typer.Abort:
        _leave(130, "acclock: interrupted")
    sys.exit(code)


def _leave(code: int, message: str) -> NoReturn:
    if message:
        print(message, file=sys.stderr)
    sys.exit(code)
