"""What became of the things that one output was to be told."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts, and the last trouble.

    >>> Tally().more(told=1).told
    1
    """

    told: int = 0
    refreshed: int = 0
    failed: int = 0
    dropped: int = 0
    """Refreshes that a newer one replaced, and events that did not fit."""
    overtaken: int = 0
    """News of an open session that a lock overtook: telling it late would open a locked door."""
    trouble: str = ""
    """What went wrong last."""

    def more(self, **counts: int) -> Self:
        """Give the tally with so many more of each."""
        raised = {name: getattr(self, name) + number for name, number in counts.items()}
        return replace(self, **raised)
