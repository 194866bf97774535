"""What a command says of itself, read without loading it: loading all of them takes a while."""

import ast
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader


def summarize(module: str) -> str:
    """Give the first paragraph of the docstring of a command, by the name of its module.

    >>> summarize("doctor")
    'Say what is installed, which extras are there and what would not work.'
    """
    for statement in ast.parse(_read_source(f"acclock.cli.{module}")).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == module:
            return " ".join((ast.get_docstring(statement) or "").partition("\n\n")[0].split())
    return ""


def _read_source(name: str) -> str:
    spec = find_spec(name)
    if spec is None or not hasattr(spec.loader, "get_source"):
        return ""
    # there is none where only compiled files were installed
    return cast("InspectLoader", spec.loader).get_source(name) or ""
