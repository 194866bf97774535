"""Refuse files over 500 kB."""

import sys
from pathlib import Path

MOST_BYTES = 500_000

found = [name for name in sys.argv[1:] if Path(name).stat().st_size > MOST_BYTES]
sys.exit(f"over {MOST_BYTES} bytes: {', '.join(found)}" if found else 0)
