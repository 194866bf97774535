"""docs/paper-map.md is complete, and says what the code says."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(
    r"^\| ((?:Eq\.|Alg\.|Fig\.|Tab\.) [^|]*?) \| ([^|]+?) \| ([^|]*?) \| ([^|]*?) ?\|$", re.M
)
NOT_YET = "not yet"

EQUATIONS = [f"Eq. {number}" for number in range(1, 15)]
ALGORITHM = [f"Alg. 1, lines {lines}" for lines in ("1-3", "4-10", "11-13", "14-18")]
TABLES = ["Tab. 1", "Tab. 2", "Tab. 3"]
SHOWING_RESULTS = [2, 3, *range(5, 10), 11, *range(14, 31)]
"""The other figures of the paper are drawings of the scenario, the architecture and the set-up."""
FIGURES = [f"Fig. {number}" for number in SHOWING_RESULTS]

ROWS = {
    item: (what, where, check)
    for item, what, where, check in ROW.findall((ROOT / "docs" / "paper-map.md").read_text())
}


def citations() -> Counter[str]:
    """Count which equations the docstrings' ``Paper:`` paragraphs name."""
    counted: Counter[str] = Counter()
    for file in (ROOT / "src").rglob("*.py"):
        for paragraph in re.findall(r"Paper:.*?(?:\n\s*\n|\"\"\")", file.read_text(), re.S):
            counted.update(f"Eq. {number}" for number in re.findall(r"Eq\. \((\d+)\)", paragraph))
    return counted


def built(items: list[str]) -> list[str]:
    return [item for item in items if ROWS[item][1] != NOT_YET]


def test_every_numbered_thing_has_one_row() -> None:
    assert sorted(ROWS) == sorted([*EQUATIONS, *ALGORITHM, *TABLES, *FIGURES])


@pytest.mark.parametrize("equation", EQUATIONS)
def test_an_equation_is_cited_once_when_it_is_built_and_never_before(equation: str) -> None:
    assert citations()[equation] == (1 if equation in built(EQUATIONS) else 0)


@pytest.mark.parametrize("item", built([*EQUATIONS, *ALGORITHM]))
def test_a_row_leads_to_code_that_cites_it_and_to_its_test(item: str) -> None:
    _, code, test = ROWS[item]
    module, _, name = code.strip("`").rpartition(".")

    thing = getattr(import_module(module), name)

    assert "Paper:" in (thing.__doc__ or "")
    assert f'paper("{item}")' in (ROOT / test.strip("`")).read_text()
