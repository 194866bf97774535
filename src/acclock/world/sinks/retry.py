"""How long to wait before something that failed is tried again."""

from dataclasses import dataclass

from acclock.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Waits that double, up to a longest one.

    >>> [Retry(first_s=1.0, longest_s=5.0).wait_s(failures, draw=1.0) for failures in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    """

    first_s: float = 0.5
    longest_s: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.first_s <= self.longest_s:
            raise ConfigError("retries wait for a while, at first not longer than in the end")

    def wait_s(self, failures: int, draw: float) -> float:
        """Give the wait after so many failures; ``draw``, from 0 to 1, spreads the crowd."""
        doubled = self.first_s * 2.0 ** min(failures - 1, 30)
        return min(self.longest_s, doubled) * (0.5 + draw / 2)
