"""Refuse files with trailing space or without a newline at the end."""

import sys
from pathlib import Path


def untidy(path: Path) -> bool:
    """Tell whether a text file ends badly or has spaces at the end of a line."""
    text = path.read_text(encoding="utf-8")
    return bool(text) and (
        not text.endswith("\n")
        or text.endswith("\n\n")
        or any(line != line.rstrip() for line in text.split("\n"))
    )


found = [name for name in sys.argv[1:] if untidy(Path(name))]
sys.exit(f"untidy: {', '.join(found)}" if found else 0)
