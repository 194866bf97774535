"""What is usual of late: a quarter of what was seen is calmer."""

from bisect import bisect_left, insort
from collections import deque
from math import inf, isnan

_SHARE = 0.25


class Usual:
    """The last so many values, kept in order: nothing is sorted anew for each of them.

    >>> usual = Usual(4)
    >>> for value in (9.0, 1.0, 2.0, 3.0, 4.0):
    ...     usual.add(value)
    >>> len(usual), usual.level
    (4, 2.0)
    """

    def __init__(self, remembered: int) -> None:
        self._remembered = remembered
        self._seen: deque[float] = deque()
        self._sorted: list[float] = []

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def level(self) -> float:
        return self._sorted[int(_SHARE * len(self._sorted))]

    def add(self, value: float) -> None:
        """Remember a value, and forget the oldest; what is no number was beyond measure."""
        known = inf if isnan(value) else value
        if len(self._seen) == self._remembered:
            del self._sorted[bisect_left(self._sorted, self._seen.popleft())]
        self._seen.append(known)
        insort(self._sorted, known)
