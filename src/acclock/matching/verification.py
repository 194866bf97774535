"""A template or an index of many and some windows in, a verdict out."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from acclock.errors import SignalError
from acclock.matching.centers import are_unit, as_rows
from acclock.matching.cohort import Cohort
from acclock.matching.normalization import measure
from acclock.matching.template import Template
from acclock.matching.verdict import Verdict, WindowFault
from acclock.values import FloatArray


def verify(
    template: Template,
    embeddings: ArrayLike,
    *,
    faults: Sequence[str | None] | None = None,
    cohort: Cohort | None = None,
    least_windows: int = 1,
) -> Verdict:
    """Tell whether windows are the user's, by the mean of their distances.

    Paper: Sec. 6.3, Algorithm 1, lines 14-17; line 18 is the verdict's.
    Windows with a fault are left out (give one fault or ``None`` for each window). When fewer
    than ``least_windows`` remain, the verdict is the commonest fault. AS-norm needs its cohort.
    """
    if cohort is not None:
        template.require(cohort.model)
    rows = as_rows(embeddings, width=template.center.shape[0])
    found = faults_of(rows, faults)
    good = rows[[fault is None for fault in found]]
    if len(good) < max(least_windows, 1):
        return _nothing_to_judge(template, found)
    distances = measure(template.center, good, rule=template.rule, cohort=cohort)
    return Verdict(
        distance=float(distances.mean()),
        threshold=template.threshold,
        spread=template.spread,
        windows=len(good),
    )


def faults_of(rows: FloatArray, faults: Sequence[str | None] | None) -> list[WindowFault | None]:
    """Give what is wrong with each window: nothing, when nobody said anything."""
    if faults is None:
        return [None] * len(rows)
    if len(faults) != len(rows):
        raise SignalError(f"there are {len(faults)} faults for {len(rows)} windows")
    return [None if fault is None else WindowFault(fault) for fault in faults]


def _nothing_to_judge(template: Template, found: list[WindowFault | None]) -> Verdict:
    counted = Counter(fault for fault in found if fault is not None)
    fault = counted.most_common(1)[0][0] if counted else WindowFault.GAP
    return Verdict(distance=math.nan, threshold=template.threshold, windows=0, fault=fault)


_SHORTLIST = 32
"""How many of the nearest people are looked at closely."""
_LEAST_LEAD = 0.25
"""By how many spreads the best must beat the second, or else nobody is named."""
_ALIKE = "two enrolled people fit alike"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """Who it is, or nobody."""

    name: str | None
    reason: str
    verdict: Verdict | None
    """The verdict of the template that was named, or else of the nearest; none without people."""
    uncompared: Mapping[str, str] = field(default_factory=dict)
    """Who was not compared, and why not."""

    def __bool__(self) -> NoReturn:
        raise TypeError("an Identification is neither true nor false; ask for its `name`")


class Index:
    """The centers of many people as one matrix. Whoever is discarded is gone at once."""

    def __init__(self) -> None:
        self._templates: list[Template] = []
        self._names: list[str] = []
        self._rows: dict[str, int] = {}
        self._centers: NDArray[np.float32] = np.zeros((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def put(self, name: str, template: Template) -> None:
        """Take a person in, or their new template."""
        if self._templates:
            template.require(self._templates[0].model)
        row = self._rows.get(name, len(self._names))
        self._reserve(row + 1, template.center.shape[0])
        if row == len(self._names):
            self._names.append(name)
            self._templates.append(template)
        self._rows[name] = row
        self._templates[row] = template
        self._centers[row] = template.center

    def discard(self, name: str) -> None:
        """Forget a person: the last one takes the place, and the bytes are overwritten."""
        if name not in self._rows:
            return
        row, last = self._rows.pop(name), len(self._names) - 1
        if row != last:
            self._centers[row] = self._centers[last]
            self._names[row], self._templates[row] = self._names[last], self._templates[last]
            self._rows[self._names[row]] = row
        self._centers[last] = 0.0
        del self._names[last], self._templates[last]

    def identify(
        self,
        embeddings: ArrayLike,
        *,
        faults: Sequence[str | None] | None = None,
        cohort: Cohort | None = None,
    ) -> Identification:
        """Name the one person whose template accepts these windows, or nobody.

        One product of the matrix with the mean window finds the nearest people; their templates
        decide exactly as for :func:`~acclock.matching.verification.verify`. Two that fit alike are
        nobody: the more people there are, the likelier it is that a stranger fits one of them.
        """
        rows = as_rows(embeddings)
        if not self._names:
            return Identification(name=None, reason="nobody is enrolled", verdict=None)
        good = rows[[fault is None for fault in faults_of(rows, faults)]]
        nearest = [int(row) for row in self._nearest(good)]
        verdicts = [
            verify(self._templates[row], rows, faults=faults, cohort=cohort) for row in nearest
        ]
        order = sorted(range(len(nearest)), key=lambda place: _margin(verdicts[place]))
        best = verdicts[order[0]]
        if not best.accepted:
            reason = "nobody enrolled fits" if best.decision == "reject" else best.reason
            return Identification(name=None, reason=reason, verdict=best)
        if len(order) > 1 and _fit_alike(best, verdicts[order[1]]):
            return Identification(name=None, reason=_ALIKE, verdict=best)
        name = self._names[nearest[order[0]]]
        return Identification(name=name, reason=best.reason, verdict=best)

    def _nearest(self, rows: FloatArray) -> NDArray[np.intp]:
        usable = rows[are_unit(rows)].astype(np.float32)
        if usable.shape[1] != self._centers.shape[1]:
            width = self._centers.shape[1]
            raise SignalError(f"the embeddings have {usable.shape[1]} numbers; this needs {width}")
        count = min(_SHORTLIST, len(self))
        if len(usable) == 0:
            return np.arange(count)
        cosines = self._centers[: len(self)] @ usable.mean(axis=0)
        return np.argpartition(-cosines, count - 1)[:count]

    def _reserve(self, count: int, width: int) -> None:
        if self._centers.shape[0] >= count:
            return
        room = np.zeros((max(64, 2 * self._centers.shape[0]), width), np.float32)
        if len(self) > 0:
            room[: len(self)] = self._centers[: len(self)]
        self._centers[:] = 0.0  # the old matrix leaves no template behind in memory
        self._centers = room


def choose_best(found: Sequence[Identification]) -> Identification:
    """Choose among what the indexes of several models found in one recording.

    Each measures in spreads of its own people, so that they can be compared. Here too, two people
    who fit alike are nobody.
    """
    compared = [(one.verdict, one) for one in found if one.verdict is not None]
    if not compared:
        return Identification(name=None, reason="nobody could be compared", verdict=None)
    (best, chosen), *others = sorted(
        compared, key=lambda one: (not one[0].accepted, _margin(one[0]))
    )
    if any(_fit_alike(best, verdict) for verdict, _ in others):
        return replace(chosen, name=None, reason=_ALIKE)
    return chosen


def _margin(verdict: Verdict) -> float:
    """Give how far above its threshold a distance lies, in spreads; the smallest fits best."""
    above = (verdict.distance - verdict.threshold) / max(verdict.spread, 1e-9)
    return np.inf if np.isnan(above) else above


def _fit_alike(best: Verdict, second: Verdict) -> bool:
    return second.accepted and _margin(second) - _margin(best) < _LEAST_LEAD
