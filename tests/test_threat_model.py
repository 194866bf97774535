"""Each claim of the threat model names tests, and those exist."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(test_\w+)`")


def claims() -> list[str]:
    """Give the rows of the tables of claims."""
    parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    rows = [
        line
        for part in parts
        if part.startswith("Claims")
        for line in part.splitlines()
        if line.startswith("|")
    ]
    return [row for row in rows if not re.match(r"\|(---| against )", row)]


def test_every_claim_names_a_test() -> None:
    assert len(claims()) > 20
    assert [claim for claim in claims() if not NAMED.search(claim)] == []


def test_every_named_test_exists() -> None:
    sources = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    defined = {name for text in sources for name in re.findall(r"def (test_\w+)", text)}

    assert set(NAMED.findall(PAGE)) - defined == set()


def test_every_claim_is_against_an_actor() -> None:
    table = PAGE.partition("## Actors")[2].partition("## ")[0]
    actors = set(re.findall(r"^\| ([\w ]+) \|", table, re.MULTILINE))

    assert {claim.split("|")[1].strip() for claim in claims()} <= actors
