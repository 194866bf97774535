"""What the docs show is what happens: console blocks are run, Python blocks are doctests."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def commands(page: Path) -> list[tuple[str, str]]:
    """Give each command of a page with the output that the page shows below it."""
    shown = "".join(CONSOLE.findall(page.read_text(encoding="utf-8")))
    parts = re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a page: what its commands wrote, its Python finds."""
    page: Path = request.getfixturevalue("page")
    folder = tmp_path_factory.getbasetemp() / f"page-{page.stem}"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page: Path, folder: Path) -> None:
    search_path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": search_path, "COLUMNS": "100", "NO_COLOR": "1"}
    for command, shown in commands(page):
        ran = subprocess.run(  # noqa: S603 - our own pages
            shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True
        )
        got = "\n".join(line.rstrip() for line in (ran.stdout + ran.stderr).splitlines()) + "\n"
        same = doctest.OutputChecker().check_output(
            shown, got, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
        assert not shown or same, f"$ {command}\n{got}"
        assert shown or ran.returncode == 0, f"$ {command}\n{got}"


# The examples of reference.md are doctests of the modules that they come from.
@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.name != "reference.md"], ids=lambda page: page.name
)
def test_python_on_the_page_runs(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)

    failures, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)

    assert failures == 0


@pytest.mark.parametrize(
    "page",
    [*PAGES, *sorted((ROOT / "docs" / "decisions").glob("*.md"))],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []
