"""Write the traces anew: ``python -m tests.golden.make``, then look at the difference."""

import os
import sys

from tests.golden.scripts import GROUPS
from tests.golden.tracing import path_of, trace, write


def make(groups: list[str]) -> None:
    """Write the traces of groups; those of real recordings where they are there."""
    for group in groups:
        if group == "real" and "ACCLOCK_DATA" not in os.environ:
            sys.exit("ACCLOCK_DATA does not name the folder of the real recordings")
        write(group, trace(group))
        sys.stdout.write(f"{path_of(group)}\n")


if __name__ == "__main__":
    make(sys.argv[1:] or list(GROUPS))
