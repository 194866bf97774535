"""Enrolling and verifying: how long, and who is refused. ``python -m benchmarks.enrollment``.

Who is refused is counted over simulated people drawn with a seed that nothing else uses, and with
``--mscardio mscardio-dev.zip`` over real ones (from whom the shipped model learned). Nothing here
fails: every model brings limits of its own, in the cohort beside it.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import median

import numpy as np

from acclock.errors import AccLockError
from acclock.matching.coaching import Enrollment, find_incoherence, finish, push
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.matching.verification import verify
from acclock.models.catalog import LoadedModel
from acclock.pipeline import StreamingDenoiser
from acclock.recognizer import Recognizer, open_recognizer
from acclock.recordings import load_all, open_dataset
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray, Recording
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

PEOPLE, SEED, DURATION_S = 60, 5200, 330.0
TABLES, FEWEST = 10, 20
ROUNDS = 5

Sets = dict[str, list[FloatArray]]


def wear(person: int, *, session: int = 0, duration_s: float = DURATION_S) -> Recording:
    scene = Scene(duration_s=duration_s, session=session)
    return simulate(draw_person(person, seed=SEED), scene, seed=SEED).recording


def measure(what: str, work: Callable[[], object], *, target_ms: float, rounds: int) -> None:
    """Print the time on the clock, and that of the processor: what a core of its own would take."""
    took, worked = list[float](), list[float]()
    for _ in range(rounds):
        start, before = time.perf_counter(), time.process_time()
        work()
        took.append(1e3 * (time.perf_counter() - start))
        worked.append(1e3 * (time.process_time() - before))
    figures = f"{median(took):>9.2f} ms, processor {median(worked):>8.2f} ms"
    print(f"{what:<28}{figures}   target {target_ms:g}")


def measure_speed(recognizer: Recognizer, model: LoadedModel) -> None:
    recording, probe = wear(0, duration_s=360.0), wear(0, session=1, duration_s=60.0)
    names = (f"user {number}" for number in range(ROUNDS))
    measure(
        "enroll from 6 minutes",
        lambda: recognizer.enroll(next(names), [recording]),
        target_ms=500.0,
        rounds=ROUNDS,
    )
    windows, template = model.observe(probe), recognizer.vault.template("user 0")
    decide = partial(verify, template, windows.embeddings, cohort=model.cohort)
    measure("decide over 15 windows", decide, target_ms=2.0, rounds=40)
    measure("a new window of a stream", live(template, model, probe), target_ms=2.0, rounds=40)


def live(template: Template, model: LoadedModel, probe: Recording) -> Callable[[], object]:
    """Give what a running stream does once for each window: prepare, judge, embed, decide."""
    stream = StreamingDenoiser(model.preparation, step_s=1.0)
    stream.push(probe.samples, probe.received)
    second = probe.samples[:, :100]

    def step() -> None:
        (window,) = stream.push(second)
        rows = model.embed(window.samples[np.newaxis])
        verify(template, rows, cohort=model.cohort)

    return step


def simulated_sets(model: LoadedModel, people: int, count: int = 80) -> Sets:
    worn = [
        [model.observe(wear(person, session=when)).good for when in range(2)]
        for person in range(people)
    ]
    pairs = list(zip(worn, worn[1:] + worn[:1], strict=True))
    sets = {"one session": [own[0][:count] for own, _ in pairs]}
    sets["two sessions"] = [mix(own[0], own[1], count // 2, count // 2) for own, _ in pairs]
    for percent in (50, 80, 90):
        mine = count * percent // 100
        name = f"two people, {percent}/{100 - percent}"
        sets[name] = [mix(own[0], other[0], mine, count - mine) for own, other in pairs]
    return sets


def real_sets(model: LoadedModel, place: str) -> Sets:
    found: dict[str, list[FloatArray]] = {}
    for loaded in load_all(open_dataset(place), rate_hz=model.card.rate_hz):
        theirs = found.setdefault(loaded.entry.person or "", [])
        if loaded.recording is not None and len(theirs) < 2:
            rows = model.observe(loaded.recording).good
            theirs += [rows] if len(rows) >= FEWEST else []
    worn = [theirs for theirs in found.values() if len(theirs) == 2]
    pairs = list(zip(worn, worn[1:] + worn[:1], strict=True))
    whole = len(max((rows for own in worn for rows in own), key=len))
    return {
        "one recording": [own[0] for own, _ in pairs],
        "two recordings": [mix(own[0], own[1], whole, whole) for own, _ in pairs],
        "two people, 50/50": [mix(own[0], other[0], whole, whole) for own, other in pairs],
        "two people, 80/20": [
            mix(own[0], other[0], whole, len(own[0]) // 4) for own, other in pairs
        ],
    }


def mix(one: FloatArray, other: FloatArray, ones: int, others: int) -> FloatArray:
    return np.vstack([one[:ones], other[:others]])


def count_refused(title: str, sets: Sets, cohort: Cohort) -> None:
    print(f"\n{title}")
    for name, those in sets.items():
        refused = sum(find_incoherence(rows, cohort) is not None for rows in those)
        print_share(name, refused, len(those))


def count_tables(model: LoadedModel) -> None:
    """Try to enroll a table: recordings of an earphone that nobody wears."""
    refused = 0
    for number in range(TABLES):
        scene = Scene(duration_s=DURATION_S, removed_at_s=0.0)
        left = simulate(draw_person(number, seed=SEED), scene, seed=SEED).recording
        refused += not makes_template(model.observe(left).good, model.cohort)
    print_share("a table", refused, TABLES)


def makes_template(rows: FloatArray, cohort: Cohort) -> bool:
    enrollment = Enrollment()
    for row in rows:
        enrollment = push(enrollment, row)
    try:
        finish(enrollment, cohort=cohort, now=datetime.now(UTC))
    except AccLockError:
        return False
    return True


def print_share(name: str, count: int, total: int) -> None:
    low, high = interval(count, total)
    share = f"{100 * count / total:.0f} % ({100 * low:.0f}-{100 * high:.0f})"
    print(f"{name:<22}refused {count:>3} of {total:<3}  {share}")


def interval(count: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share: every set is of other people."""
    share = count / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z * sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2) / (1 + z**2 / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def main(arguments: Sequence[str] | None = None) -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--model", default="default")
    asked.add_argument("--people", type=int, default=PEOPLE)
    asked.add_argument("--mscardio", help="count over these recordings too")
    options = asked.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        keys = KeyFile(Path(folder) / "vault.key")
        with open_vault(Path(folder) / "vault", key_store=keys) as vault:
            recognizer = open_recognizer(vault, models=[options.model])
            model = recognizer.models.named(options.model)
            known = ", ".join(f"{kind.name} {kind.widest:.2f}" for kind in model.cohort.kinds)
            print(f"limits of the cohort: {known or 'none; `acclock cohort` measures them'}\n")
            measure_speed(recognizer, model)
            title = f"{options.people} simulated people, seed {SEED}, 80 windows"
            count_refused(title, simulated_sets(model, options.people), model.cohort)
            count_tables(model)
            if options.mscardio:
                sets = real_sets(model, options.mscardio)
                count_refused(f"{options.mscardio}, up to 24 windows", sets, model.cohort)


if __name__ == "__main__":
    main()
