"""What the program says: where it tells somebody to migrate, it names the command."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import acclock

SOURCE = Path(acclock.__file__).parent
ADVICE = re.compile(r"\bmigrat(e|ing)\b")


def sentences(path: Path) -> Iterator[str]:
    """Give the strings of a file that are neither names nor docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, documented)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and " " in str(node.value) and node.value not in docs:
            yield str(node.value)


def test_every_sentence_that_says_migrate_names_the_command() -> None:
    said = [one for path in SOURCE.rglob("*.py") for one in sentences(path) if ADVICE.search(one)]
    shown = [
        line
        for path in SOURCE.rglob("*.js")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ADVICE.search(line)
    ]

    assert len(said) >= 4
    assert len(shown) >= 1
    assert [one for one in (*said, *shown) if "acclock migrate" not in one] == []
