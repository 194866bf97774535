"""The README's figures of the paper come from the outcomes that are kept."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_figures", ROOT / "docs" / "make_figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_tells_what_was_measured() -> None:
    text = (ROOT / "README.md").read_text()

    assert load().insert(text) == text


def test_every_row_of_the_readme_is_an_experiments() -> None:
    figures = load()

    for name, variant, *_ in figures.SHOWN:
        assert figures.list_experiments()[name].variant(variant)
