"""One session, alone in its process: ``python -m acclock.experiments.paper.wearing SECONDS STEP``.

Prints what it took. Nothing that trains is loaded, so the memory is that of the runtime.
"""

import json
import resource
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.live.policies import policy_named
from acclock.live.session import Session
from acclock.matching.enrollment import enroll
from acclock.matching.threshold import RULES
from acclock.models.cohorts import cohort_path, read_cohort
from acclock.models.files import find_model, read_model
from acclock.pipeline import Preparation, prepare
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray

_HOP = 10
_WORN_S = 60.0
_NOW = datetime(2000, 1, 1, tzinfo=UTC)


def wear(length_s: float, step_s: float) -> dict[str, float]:
    """Let the shipped model listen to somebody for so long."""
    path = find_model("default")
    embedder = Embedder(read_model(path))
    preparation, rate_hz = Preparation.of(embedder.card), embedder.card.rate_hz
    cohort = read_cohort(cohort_path(path), model=embedder.fingerprint)

    def embed(windows: FloatArray) -> FloatArray:
        return embedder.embed(windows[:, : embedder.card.axes])

    person = draw_person(0, seed=0)
    first = simulate(person, Scene(duration_s=120.0)).recording
    rows = embed(np.stack([one.samples for one in prepare(first, preparation, step_s=4.0)][2:]))
    template = enroll(rows, cohort=cohort, now=_NOW, rule=RULES["paper"])
    policy = replace(policy_named("balanced"), step_s=step_s)
    session = Session(template, cohort, preparation, embed, policy, person="owner")
    worn = simulate(person, Scene(duration_s=_WORN_S, session=1)).recording.samples
    spent_s = time.process_time()
    for start in range(0, round(length_s * rate_hz), _HOP):
        place = start % worn.shape[1]
        part = worn[:, place : place + _HOP]
        session.push(part, np.ones(_HOP, dtype=bool), (start + _HOP) / rate_hz)
    spent_s = time.process_time() - spent_s
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory_mb = pages * resource.getpagesize() / 2**20
    return {"cpu_s": spent_s, "memory_mb": memory_mb, "rate_hz": rate_hz}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(wear(float(sys.argv[1]), float(sys.argv[2]))))
