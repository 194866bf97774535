"""Write docs/reference.md from docstrings and ``--help``: ``python docs/make_reference.py``."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import acclock
from acclock.cli.program import COMMANDS

PAGE = Path(__file__).with_name("reference.md")
PROGRAM = str(Path(sys.executable).with_name("acclock"))
EXAMPLE = re.compile(r"^(>>> .*\n(?:\S.*\n)*)", re.MULTILINE)
HEAD = """# Reference

Made from docstrings and `--help` by `make docs`; do not edit it by hand.
"""


def describe_name(name: str) -> str:
    """Give the heading, signature and docstring of one public name."""
    thing = getattr(acclock, name)
    signature = f"{name}{inspect.signature(thing)}" if not _is_error(thing) else name
    signature = re.sub(r" at 0x[0-9a-f]+", "", signature)
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", inspect.getdoc(thing) or "")
    text = EXAMPLE.sub(r"```\n\1```\n", text + "\n")
    return f"### `acclock.{name}`\n\n```\n{signature}\n```\n\n{text.strip()}\n"


def describe_command(name: str) -> str:
    """Give the help of one command, as it prints it."""
    plain = os.environ | {"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1"}
    ran = subprocess.run(  # noqa: S603 - our own program
        [PROGRAM, name, "--help"], env=plain, capture_output=True, text=True, check=True
    )
    shown = "\n".join(line.rstrip() for line in ran.stdout.strip().splitlines())
    return f"### `acclock {name}`\n\n```\n{shown}\n```\n"


def make_page() -> str:
    """Give the whole page."""
    names = [describe_name(name) for name in acclock.__all__]
    commands = [describe_command(name) for name in COMMANDS]
    return "\n".join([HEAD, "## Python\n", *names, "## Commands\n", *commands])


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


if __name__ == "__main__":
    PAGE.write_text(make_page(), encoding="utf-8")
