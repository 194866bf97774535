"""Counts and times in the text format that Prometheus reads."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from threading import Lock

_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Metrics:
    """What happened in this process since it started. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._buckets = [0] * (len(_BOUNDS_S) + 1)
        self._waited_s = 0.0
        self._gauges: dict[str, Callable[[], float]] = {}

    def count(self, what: str, kind: str, times: int = 1) -> None:
        """Count something of a kind, as a ``request`` of kind ``200``."""
        with self._lock:
            self._counts[what, kind] += times

    def counted(self, what: str, kind: str) -> int:
        return self._counts[what, kind]

    def wait(self, seconds: float) -> None:
        """Note how long a decision took, from the arrival of its samples."""
        with self._lock:
            self._buckets[bisect_left(_BOUNDS_S, seconds)] += 1
            self._waited_s += seconds

    def watch(self, name: str, gauge: Callable[[], float]) -> None:
        """Show a number that is asked for when it is needed."""
        self._gauges[name] = gauge

    def render(self) -> str:
        """Give everything as text.

        >>> metrics = Metrics()
        >>> metrics.count("shed", "late")
        >>> 'acclock_shed_total{kind="late"} 1' in metrics.render()
        True
        """
        with self._lock:
            counts = dict(self._counts)
            buckets, waited_s = list(self._buckets), self._waited_s
        lines = [*_render_counts(counts), *_render_times(buckets, waited_s)]
        for name, gauge in sorted(self._gauges.items()):
            lines += [f"# TYPE acclock_{name} gauge", f"acclock_{name} {gauge():g}"]
        return "\n".join(lines) + "\n"


def _render_counts(counts: Mapping[tuple[str, str], int]) -> Iterator[str]:
    named = ""
    for (what, kind), times in sorted(counts.items()):
        if what != named:
            yield f"# TYPE acclock_{what}_total counter"
            named = what
        yield f'acclock_{what}_total{{kind="{kind}"}} {times}'


def _render_times(buckets: list[int], waited_s: float) -> Iterator[str]:
    yield "# TYPE acclock_decision_seconds histogram"
    total = 0
    for bound, times in zip([*map(str, _BOUNDS_S), "+Inf"], buckets, strict=True):
        total += times
        yield f'acclock_decision_seconds_bucket{{le="{bound}"}} {total}'
    yield f"acclock_decision_seconds_sum {waited_s:g}"
    yield f"acclock_decision_seconds_count {total}"
