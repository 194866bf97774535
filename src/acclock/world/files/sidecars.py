"""Small files beside a recording that tell about it. What cannot be understood tells nothing."""

import csv
import json
from collections.abc import Mapping
from io import StringIO

from acclock.world.files.trees import Item


def read_section(item: Item | None, section: str) -> dict[str, str]:
    """Give the facts of one section of a JSON file, as text and by lower-case name."""
    try:
        content = json.loads(item.read()) if item else None
    except (ValueError, RecursionError):
        return {}
    facts = content.get(section) if isinstance(content, dict) else None
    return _as_texts(facts) if isinstance(facts, dict) else {}


def read_rows(item: Item | None) -> list[dict[str, str]]:
    """Give the rows of a table, as text and by lower-case column name."""
    if item is None:
        return []
    text = item.read().decode(errors="replace").lstrip("\ufeff")
    try:
        return [_as_texts(row) for row in csv.DictReader(StringIO(text, newline=""))]
    except csv.Error:
        return []


def _as_texts(facts: Mapping[str, object]) -> dict[str, str]:
    return {str(key).lower(): str(value) for key, value in facts.items() if value not in (None, "")}
