"""A template and some windows in, a verdict out."""

import math
from collections import Counter
from collections.abc import Sequence

from numpy.typing import ArrayLike

from acclock.errors import SignalError
from acclock.matching.centers import as_rows
from acclock.matching.cohort import Cohort
from acclock.matching.fault import Fault
from acclock.matching.normalization import measure
from acclock.matching.template import Template
from acclock.matching.verdict import Verdict
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


def faults_of(rows: FloatArray, faults: Sequence[str | None] | None) -> list[Fault | None]:
    """Give what is wrong with each window: nothing, when nobody said anything."""
    if faults is None:
        return [None] * len(rows)
    if len(faults) != len(rows):
        raise SignalError(f"there are {len(faults)} faults for {len(rows)} windows")
    return [None if fault is None else Fault(fault) for fault in faults]


def _nothing_to_judge(template: Template, found: list[Fault | None]) -> Verdict:
    counted = Counter(fault for fault in found if fault is not None)
    fault = counted.most_common(1)[0][0] if counted else Fault.GAP
    return Verdict(distance=math.nan, threshold=template.threshold, windows=0, fault=fault)
