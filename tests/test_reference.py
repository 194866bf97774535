import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_reference_is_that_of_this_code() -> None:
    maker = runpy.run_path(str(DOCS / "make_reference.py"))

    page = maker["make_page"]()

    assert page == (DOCS / "reference.md").read_text(encoding="utf-8"), "run `make docs`"
