"""How fast a session locks, and how often wrongly: ``python -m benchmarks.session [PART ...]``.

Simulated people and, where ``ACCLOCK_DATA`` names them, real recordings: chests (MSCardio), each
person tried with a model and a cohort that have not met them (``make folds``), and head motion
(ClassyGlass) laid over simulated hearts. ``--write`` puts tables and picture into docs/session.md;
the parts can be run one by one, and ``--day`` with ``cost`` lasts a quarter of an hour. Constants
were chosen on ``--development`` people and on other deals of the folds (``--deal``) than those
reported. Nothing here fails but a cost that is a ratio.
"""

import argparse
import copy
import os
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import pairwise
from math import inf
from operator import itemgetter
from pathlib import Path

import numpy as np

from acclock.errors import EnrollmentError, TooFewError
from acclock.live.answers import WindowAnswer
from acclock.live.grants import Grant
from acclock.live.policies import BALANCED, POLICIES, Policy
from acclock.live.session import Session
from acclock.live.session_state import SessionState
from acclock.live.stream_analyzer import ChunkResult, StreamAnalyzer
from acclock.matching.centers import distances_to
from acclock.matching.coaching import Enrollment, finish, push
from acclock.matching.template import Template
from acclock.pipeline.observation import observe
from acclock.recordings import load_all, open_dataset
from acclock.simulation import Person, Scene, draw_person, simulate
from acclock.values import FloatArray, Recording
from benchmarks.folds import REPORTED_DEAL, Encoder, read_folds, shipped_encoder
from benchmarks.noises import NOISES, make_noise

REPORTED, DEVELOPMENT = 2000, 1000
"""Seeds of people: constants were chosen on the second, figures come from the first."""
RATE_HZ = 100
HOP = 10
LATE_S = 0.27
"""By which the live clock holds samples back; added to every time after a change."""
BEFORE_S, AFTER_S = 60, 40
NOISE_S = 110
LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.5, 10.0, 13.0, 17.0)
FACTORS = (0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
PAGE = Path(__file__).parents[1] / "docs" / "session.md"
PICTURE = PAGE.parent / "images" / "session.png"
PER_WEARING = 5
DRAWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured."""

    people: int
    quiet_s: float
    strangers: int
    """Who follow each owner without a seam."""
    tries: int
    """Strangers who have ten minutes of their own with each owner's lock."""
    removed: int
    """Owners of whose ears it is taken."""
    removals: int
    """Of all of them together, at least."""
    owners: int
    """Of MSCardio, in each fold at most."""
    noises: int
    """Of every kind, for each real owner."""
    long_s: int


FULL = Size(
    people=38,
    quiet_s=600.0,
    strangers=4,
    tries=10,
    removed=24,
    removals=330,
    owners=100,
    noises=3,
    long_s=1800,
)
QUICK = Size(
    people=4,
    quiet_s=120.0,
    strangers=2,
    tries=3,
    removed=4,
    removals=8,
    owners=3,
    noises=1,
    long_s=120,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hop:
    """What a tenth of a second said."""

    at_s: float
    heard: ChunkResult
    embeddings: FloatArray


Tape = list[Hop]


@dataclass(frozen=True, kw_only=True, eq=False)
class Wearer:
    """Somebody who wears it quietly; they are listened to when somebody first asks."""

    encoder: Encoder
    """By which they are heard."""
    sit: Callable[[], list[Tape]]

    @cached_property
    def quiet(self) -> list[Tape]:
        """Wearings of their own, without any change."""
        return self.sit()


@dataclass(frozen=True, kw_only=True, eq=False)
class Owner(Wearer):
    """Somebody who is enrolled, and who might take their place."""

    person: Person | None
    """Nobody when they are real."""
    template: Template
    change: Callable[[], list[tuple[Tape, float]]]
    strangers: list[Wearer] = field(default_factory=list)

    @cached_property
    def swaps(self) -> list[tuple[Tape, float]]:
        """Wearings in which a stranger follows, and when."""
        return self.change()


@cache
def shipped() -> Encoder:
    return shipped_encoder()


def listen(
    encoder: Encoder, analyzer: StreamAnalyzer, samples: FloatArray, start_s: float = 0.0
) -> tuple[StreamAnalyzer, Tape]:
    """Hear samples hop by hop; the embeddings do not depend on whose session it is."""
    heard: list[tuple[float, ChunkResult]] = []
    for start in range(0, samples.shape[1] - HOP + 1, HOP):
        at_s = start_s + (start + HOP) / RATE_HZ
        said = analyzer.listen(samples[:, start : start + HOP], np.ones(HOP, dtype=bool), at_s)
        if said != ChunkResult():
            heard.append((at_s, said))
        if said.ended is not None:
            analyzer = StreamAnalyzer(encoder.preparation, BALANCED, wearing=analyzer.wearing + 1)
    windows = [
        pending_window.samples for _, said in heard for pending_window in said.pending_windows
    ]
    rows = iter(encoder.embed(np.stack(windows)) if windows else np.empty((0, 1)))
    return analyzer, [
        Hop(at_s=at_s, heard=said, embeddings=np.array([next(rows) for _ in said.pending_windows]))
        for at_s, said in heard
    ]


def tape(encoder: Encoder, samples: FloatArray) -> Tape:
    return listen(encoder, StreamAnalyzer(encoder.preparation, BALANCED), samples)[1]


def swap_tapes(
    encoder: Encoder, before: FloatArray, afters: Iterable[FloatArray]
) -> list[tuple[Tape, float]]:
    """Splice without a seam: the stranger's gravity is turned into the owner's, nothing is seen."""
    analyzer, first = listen(encoder, StreamAnalyzer(encoder.preparation, BALANCED), before)
    end_s, level = before.shape[1] / RATE_HZ, before[:, -200:].mean(axis=1, keepdims=True)
    tapes = []
    for after in afters:
        aligned = after - after[:, :200].mean(axis=1, keepdims=True) + level
        tapes.append(
            ([*first, *listen(encoder, copy.deepcopy(analyzer), aligned, end_s)[1]], end_s)
        )
    return tapes


class Hearing(Session):
    """A session that remembers what its windows said, and when each was heard to its end."""

    said: list[tuple[float, WindowAnswer]]

    def _judge(self, answer: WindowAnswer) -> None:
        waited_s = self.policy.step_s if answer.decision == "accept" else 0.0
        self.said.append((self._now_s - waited_s, answer))
        super()._judge(answer)


def meet(owner: Owner, policy: Policy) -> Hearing:
    by = owner.encoder
    session = Hearing(owner.template, by.cohort, by.preparation, by.embed, policy, person="owner")
    session.said = []
    return session


def play(
    tape: Tape, owner: Owner, policy: Policy, *, granted: bool = True, again: bool = False
) -> list[SessionState]:
    """Let an owner's session hear a tape. A grant comes first, and ``again`` after every lock."""
    return run(meet(owner, policy), tape, granted=granted, again=again)


def run(
    session: Session, tape: Tape, *, granted: bool = True, again: bool = False
) -> list[SessionState]:
    policy, grant = session.policy, Grant(person="owner", expires_s=inf)
    if granted:
        session.grant(grant, 0.0)
    session_states = [session.session_state]
    for hop in tape:
        pending_windows = session.take(hop.heard, hop.at_s)
        for pending_window, embedding in zip(pending_windows, hop.embeddings, strict=False):
            session.hear(pending_window, embedding, hop.at_s)
        locked = session_states[-1].unlocked and not session.session_state.unlocked
        session_states.append(session.session_state)
        if again and (locked or hop.at_s % policy.confirm_s < policy.step_s):
            session.grant(grant, hop.at_s)
    return session_states


def closings(session_states: Sequence[SessionState]) -> list[tuple[SessionState, SessionState]]:
    pairs = pairwise(session_states)
    return [(before, after) for before, after in pairs if before.unlocked and not after.unlocked]


# --- people ---------------------------------------------------------------------------------------


def simulate_owners(count: int, seed: int, size: Size) -> list[Owner]:
    """Draw people who are all strangers to each other, and to the shipped model."""
    owners = [simulate_owner(index, seed, size) for index in range(count)]
    for number, owner in enumerate(owners):
        owner.strangers.extend([*owners[number + 1 :], *owners[:number]][: size.tries])
    return owners


def simulate_owner(index: int, seed: int, size: Size) -> Owner:
    person = draw_person(index, seed=seed)
    first = simulate(person, Scene(duration_s=360.0), seed=seed).recording

    def sit() -> list[Tape]:
        return [tape(shipped(), wear(person, size.quiet_s, session=1, seed=seed + 1))]

    def change() -> list[tuple[Tape, float]]:
        others = (
            draw_person((index + 1 + n) % size.people, seed=seed) for n in range(size.strangers)
        )
        strangers = [wear(other, AFTER_S, session=2, seed=seed + 2) for other in others]
        before = wear(person, BEFORE_S, session=2, seed=seed + 3)
        return swap_tapes(shipped(), before, strangers)

    template = enroll_as_product(shipped(), [first])
    return Owner(encoder=shipped(), person=person, template=template, sit=sit, change=change)


def wear(person: Person, duration_s: float, *, session: int, seed: int) -> FloatArray:
    scene = Scene(duration_s=duration_s, session=session)
    return simulate(person, scene, seed=seed).recording.samples


def enroll_as_product(encoder: Encoder, recordings: Sequence[Recording]) -> Template:
    """Enroll as ``acclock enroll`` does, which may refuse."""
    enrollment = Enrollment()
    for recording in recordings:
        seen = observe(recording, encoder.embedder)
        for embedding, fault in zip(seen.embeddings, seen.faults, strict=True):
            enrollment = push(enrollment, None if fault else embedding, fault=fault)
    return finish(enrollment, cohort=encoder.cohort, now=datetime(2025, 1, 6, tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class RealPeople:
    """Development people, each heard by the encoder of the fold that has not met them."""

    owners: list[Owner]
    refused: int
    """Whom the product did not enroll; as strangers they take part."""


def find_real_people(data: Path, deal: int, size: Size) -> RealPeople:
    worn = read_chests(data)
    owners, refused = list[Owner](), 0
    for encoder in read_folds(deal):
        unmet = [name for name in worn if not encoder.has_met(f"mscardio/{name}")][: size.owners]
        chests = [RealChest(encoder, worn[name]) for name in unmet]
        wearers = [chest.wearer for chest in chests]
        for number, chest in enumerate(chests):
            others = [*range(number + 1, len(chests)), *range(number)]
            afters = [chests[n].trials[0] for n in others[: size.strangers]]
            try:
                owner = chest.enrolled(afters)
            except (EnrollmentError, TooFewError):
                refused += 1
                continue
            owner.strangers.extend(wearers[n] for n in others)
            owners.append(owner)
    return RealPeople(owners=owners, refused=refused)


def read_chests(data: Path) -> dict[str, list[Recording]]:
    """Give everybody with three recordings of 40 s or more, theirs in the order of time."""
    found: dict[str, list[tuple[datetime, Recording]]] = defaultdict(list)
    place = str(data / "mscardio-dev.zip")
    for loaded in load_all(open_dataset(place), rate_hz=100.0, workers=1):
        recording = loaded.recording
        if recording is None or recording.person is None or recording.start is None:
            continue
        if recording.duration_s >= 40.0 and recording.missing_share < 0.05:
            found[recording.person].append((recording.start, trim(recording)))
    return {
        name: [recording for _, recording in sorted(worn, key=itemgetter(0))]
        for name, worn in found.items()
        if len(worn) >= 3
    }


def trim(recording: Recording) -> Recording:
    """Leave out the hand that puts the phone down and takes it away."""
    return replace(recording, samples=recording.samples[:, 600:-600], received=np.ones(
        len(recording) - 1200, dtype=bool))  # fmt: skip


class RealChest:
    """One person's recordings: up to four enroll, up to five later ones are tried."""

    def __init__(self, encoder: Encoder, worn: Sequence[Recording]) -> None:
        first = min(4, len(worn) - 1)
        self.encoder, self.enrolling = encoder, worn[:first]
        self.trials = [recording.samples for recording in worn[first : first + 5]]

    @cached_property
    def wearer(self) -> Wearer:
        return Wearer(encoder=self.encoder, sit=self._sit)

    def enrolled(self, afters: Sequence[FloatArray]) -> Owner:
        """Give them as an owner whom those people follow, or say why they cannot be one."""
        before = self.trials[0][:, : BEFORE_S * RATE_HZ]
        heard = [after[:, : AFTER_S * RATE_HZ] for after in afters]
        return Owner(
            encoder=self.encoder,
            person=None,
            template=enroll_as_product(self.encoder, self.enrolling),
            sit=lambda: self.wearer.quiet,
            change=lambda: swap_tapes(self.encoder, before, heard),
        )

    def _sit(self) -> list[Tape]:
        return [tape(self.encoder, samples) for samples in self.trials]


# --- figures --------------------------------------------------------------------------------------


def interval(values: Sequence[Sequence[float]], figure: Callable[[FloatArray], float]) -> str:
    """Give a figure with its 95 % interval from drawing people, whose trials are the rows."""
    chance, pooled = np.random.default_rng(0), np.concatenate([np.asarray(v) for v in values])
    draws = []
    for _ in range(DRAWS if pooled.size else 0):
        chosen = chance.integers(len(values), size=len(values))
        drawn = np.concatenate([np.asarray(values[n]) for n in chosen])
        draws.append(figure(drawn) if drawn.size else inf)
    if not draws:
        return "-"
    low, high = np.quantile(draws, [0.025, 0.975], method="nearest")
    return f"{seconds(figure(pooled))} ({seconds(low)}-{seconds(high)})"


def seconds(value: float) -> str:
    return f"> {AFTER_S}" if value > 1e3 else f"{value:.1f}"


def quantile(share: float) -> Callable[[FloatArray], float]:
    return lambda values: float(np.quantile(values, share, method="higher"))


def rate(count: int, hours: float) -> str:
    """Give how many an hour, with the exact 95 % interval of Poisson."""
    from scipy.stats import chi2  # 60 MB, which the stream that is measured must not hold

    if not count:
        return f"0 (below {3.0 / hours:.2f})"
    low, high = (
        chi2.ppf(at, 2 * n) / 2.0 / hours for at, n in ((0.025, count), (0.975, count + 1))
    )
    return f"{count / hours:.2f} ({low:.2f}-{high:.2f})"


def revoke_times(owner: Owner, policy: Policy) -> list[float]:
    """Give how long each stranger kept the session that the owner had open and confirmed."""
    times = []
    for worn, changed_s in owner.swaps:
        session_states = play(worn, owner, policy)
        before = [s for s in session_states if s.at_s <= changed_s]
        if before[-1].unlocked and before[-1].confirmed:
            after = [s.at_s for s in session_states if s.at_s > changed_s and not s.unlocked]
            times.append(after[0] - changed_s + LATE_S if after else inf)
    return times


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """How sessions of owners went, in which nobody else took part."""

    hours: float
    """Confirmed and unlocked."""
    ends: Counter[str]
    """Of confirmed sessions, by reason."""
    refused: int
    """Grants that the heartbeat did not confirm."""
    confirm_s: list[list[float]]
    """From putting it in to the first confirmation; one list per owner."""


def sit_still(owners: Sequence[Owner], policy: Policy) -> Quiet:
    ends: Counter[str] = Counter()
    hours, refused, confirm_s = 0.0, 0, list[list[float]]()
    for owner in owners:
        times = []
        for worn in owner.quiet:
            session_states = play(worn, owner, policy, again=True)
            hours += (
                sum(b.at_s - a.at_s for a, b in pairwise(session_states) if a.confirmed) / 3600.0
            )
            for before, after in closings(session_states):
                ends.update([after.reason.value] if before.confirmed else [])
                refused += not before.confirmed
            times.append(next((s.at_s + LATE_S for s in session_states if s.confirmed), inf))
        confirm_s.append(times)
    return Quiet(hours=hours, ends=ends, refused=refused, confirm_s=confirm_s)


def enter_times(owners: Sequence[Owner], policy: Policy, *, granted: bool) -> list[list[float]]:
    """Give how long owners wear it until it is open, by a grant that waits or by the heart."""
    times = []
    for owner in owners:
        first = [hop for hop in owner.quiet[0] if hop.at_s < 120.0]
        session_states = play(first, owner, policy, granted=granted)
        times.append([next((s.at_s + LATE_S for s in session_states if s.unlocked), inf)])
    return times


def strangers_chance(owners: Sequence[Owner], policy: Policy, *, granted: bool) -> tuple[int, int]:
    """Count the strangers whose ten minutes or less hold a session, and all of them."""
    worn = [(owner, other.quiet[0]) for owner in owners for other in owner.strangers]
    return sum(holds(tape, owner, policy, granted=granted) for owner, tape in worn), len(worn)


def holds(tape: Tape, owner: Owner, policy: Policy, *, granted: bool) -> bool:
    """Whether somebody else is confirmed on the owner's grant, or without it let in at all."""
    # on a grant the first minutes decide: what closes then, nothing opens again
    first = [hop for hop in tape if not granted or hop.at_s < 120.0]
    session_states = play(first, owner, policy, granted=granted)
    return any(s.confirmed if granted else s.unlocked for s in session_states)


def share(count: int, of: int) -> str:
    """Give a share with its exact 95 % interval."""
    from scipy.stats import beta  # 60 MB, which the stream that is measured must not hold

    if not count:
        return f"0 of {of} (below {300 / of:.2g} %)"
    low = 100 * beta.ppf(0.025, count, of - count + 1)
    high = 100 * beta.ppf(0.975, count + 1, of - count) if count < of else 100.0
    return f"{100 * count / of:.1f} % of {of} ({low:.1f}-{high:.1f})"


def row(name: str, cells: Iterable[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def table(owners: Sequence[Owner]) -> list[str]:
    policies = list(POLICIES.values())
    quiets = [sit_still(owners, policy) for policy in policies]
    times = [[revoke_times(owner, policy) for owner in owners] for policy in policies]
    worn = sum(tape[-1].at_s for owner in owners for tape in owner.quiet) / 3600.0
    confirmed = [[interval(quiet.confirm_s, quantile(0.5))] for quiet in quiets]
    first = [
        _confirmed_first(quiet, policy) for quiet, policy in zip(quiets, policies, strict=True)
    ]
    return [
        row("", POLICIES),
        "|---" * (len(policies) + 1) + "|",
        row(
            "put in to open by a grant, s, median",
            (interval(enter_times(owners, p, granted=True), quantile(0.5)) for p in policies),
        ),
        row("put in to confirmed, s, median", (cells[0] for cells in confirmed)),
        row(
            "put in to open by heartbeat alone (off by default), s, median",
            (
                interval(
                    enter_times(owners, p.opened_by("heartbeat"), granted=False), quantile(0.5)
                )
                for p in policies
            ),
        ),
        row("owners confirmed on the first grant", first),
        row("change of wearer to locked, s, median", (interval(t, quantile(0.5)) for t in times)),
        row("the same, 95th percentile", (interval(t, quantile(0.95)) for t in times)),
        row("the same, 99th percentile", (interval(t, quantile(0.99)) for t in times)),
        row("changes looked at", (str(sum(map(len, t))) for t in times)),
        row(f"confirmed hours, of {worn:.1f} worn", (f"{q.hours:.1f}" for q in quiets)),
        row("false revocations an hour", (rate(q.ends["stranger"], q.hours) for q in quiets)),
        row(
            "locks an hour for other reasons",
            (rate(q.ends.total() - q.ends["stranger"], q.hours) for q in quiets),
        ),
        row(
            "strangers confirmed on the owner's grant",
            (share(*strangers_chance(owners, p, granted=True)) for p in policies),
        ),
        row(
            "strangers let in by heartbeat alone within 10 minutes",
            (
                share(*strangers_chance(owners, p.opened_by("heartbeat"), granted=False))
                for p in policies
            ),
        ),
    ]


def real_lines(people: RealPeople) -> list[str]:
    """Say the same of real people, and how many could not be enrolled."""
    counted = len(people.owners) + people.refused
    alike = [share(people.refused, counted)] * len(POLICIES)
    lines = table(people.owners)
    return [*lines[:2], row("people refused at enrollment", alike), *lines[2:]]


def noise_lines(owners: Sequence[Owner], seed: int, each: int) -> list[str]:
    """Let machines shake the earphone of every owner, on the owner's grant; no stream twice."""
    lines, whole = [row("", POLICIES), "|---" * (len(POLICIES) + 1) + "|"], Counter[str]()
    streams = len(owners) * each
    for kind in NOISES:
        held: Counter[str] = Counter()
        for number, owner in enumerate([*owners] * each):
            shaken = make_noise(kind, np.random.default_rng([seed, number]), seconds=NOISE_S)
            heard = tape(owner.encoder, shaken)
            held.update(n for n, p in POLICIES.items() if holds(heard, owner, p, granted=True))
        lines.append(row(kind, (share(held[name], streams) for name in POLICIES)))
        whole += held
    total = (share(whole[name], streams * len(NOISES)) for name in POLICIES)
    return [*lines, row("all of them", total)]


def _confirmed_first(quiet: Quiet, policy: Policy) -> str:
    times = [t for owner in quiet.confirm_s for t in owner]
    return share(sum(t <= policy.confirm_s + 10.0 for t in times), len(times))


# --- the curve, beside a plain threshold ----------------------------------------------------------

Point = tuple[float, float, float]
"""False revocations an hour, median and 95th percentile of the seconds to revoke."""


def session_curve(owners: Sequence[Owner]) -> list[Point]:
    points = []
    for level in LEVELS:
        policy = replace(BALANCED, revoke_nats=level)
        quiet = sit_still(owners, policy)
        times = np.concatenate([revoke_times(owner, policy) for owner in owners])
        if quiet.hours and times.size:
            per_hour = quiet.ends["stranger"] / quiet.hours
            points.append((per_hour, quantile(0.5)(times), quantile(0.95)(times)))
    return points


def plain_curve(owners: Sequence[Owner]) -> list[Point]:
    """Lock at the first window that is not strictly below the threshold, times a factor."""
    points = []
    for factor in FACTORS:
        rejects, hours, times = 0, 0.0, []
        for owner in owners:
            limit = factor * owner.template.threshold
            for worn in owner.quiet:
                refused = [not d < limit for _, d in distances(worn, owner.template)]
                rejects += sum(b > a for a, b in zip([False, *refused], refused, strict=False))
                hours += len(refused) * BALANCED.step_s / 3600.0
            for worn, changed_s in owner.swaps:
                after = [
                    t for t, d in distances(worn, owner.template) if t > changed_s and d >= limit
                ]
                times.append(after[0] - changed_s + LATE_S if after else inf)
        points.append(
            (rejects / hours, quantile(0.5)(np.array(times)), quantile(0.95)(np.array(times)))
        )
    return points


def distances(worn: Tape, template: Template) -> list[tuple[float, float]]:
    return [
        (hop.at_s, float(distance))
        for hop in worn
        if hop.heard.pending_windows
        for distance in distances_to(template.center, hop.embeddings)
    ]


def curve_lines(session: list[Point], plain: list[Point]) -> list[str]:
    def cells(point: Point) -> list[str]:
        return [f"{point[0]:.2f}", seconds(point[1]), seconds(point[2])]

    head = row("", ["false revocations an hour", "median, s", "95th percentile, s"])
    return [
        head,
        "|---|---|---|---|",
        *(row(f"session, {at:g} nats", cells(p)) for at, p in zip(LEVELS, session, strict=False)),
        *(row(f"one window, {f:g} τ", cells(p)) for f, p in zip(FACTORS, plain, strict=True)),
    ]


Curves = dict[str, tuple[list[Point], list[Point]]]
"""For each kind of people that of the session and that of a plain threshold."""


def draw(curves: Curves) -> None:
    # only who draws waits for it
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(curves), figsize=(5.0 * len(curves), 4.0), squeeze=False)
    for axis, (title, (session, plain)) in zip(axes[0], curves.items(), strict=True):
        for points, name, color in ((session, "session", "C0"), (plain, "one window", "C1")):
            per_hour = [max(point[0], 0.05) for point in points]
            for column, style in ((1, "o-"), (2, "s--")):
                times = [min(point[column], 1.1 * AFTER_S) for point in points]
                label = f"{name}, {'median' if column == 1 else '95th percentile'}"
                axis.plot(per_hour, times, style, color=color, label=label, markersize=4)
        axis.axhline(AFTER_S, color="gray", linewidth=0.8)
        axis.text(0.055, AFTER_S + 0.6, f"not within {AFTER_S} s", fontsize=8, color="gray")
        axis.set(xscale="log", xlabel="false revocations an hour (0 at the left edge)", title=title)
        axis.set(ylabel="seconds from a change of wearer to locked", ylim=(0.0, 1.15 * AFTER_S))
        axis.grid(alpha=0.3)
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


# --- taking it out, and moving --------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Removals:
    """What one policy made of earphones that were taken out."""

    locked_s: list[list[float]]
    """Of open sessions, one list per owner."""
    accepted: Counter[int]
    """Windows by the second after the removal in which they end, whether or not it is open."""


def remove_from(owners: Sequence[Owner], seed: int, each: int) -> dict[str, Removals]:
    """Take the earphone out of the ears of owners whose session stands open."""
    found = {name: Removals(locked_s=[], accepted=Counter()) for name in POLICIES}
    chance = np.random.default_rng(seed)
    for owner in owners:
        for one in found.values():
            one.locked_s.append([])
        taken = [
            removal
            for number in range(each // PER_WEARING)
            for removal in take_out(owner, chance, seed + number)
        ]
        for name, policy in POLICIES.items():
            for heard, removed_s in taken:
                note_removal(found[name], meet(owner, policy), heard, removed_s)
    return found


def note_removal(found: Removals, session: Hearing, heard: Tape, removed_s: float) -> None:
    session_states = run(session, heard)
    before = [s for s in session_states if s.at_s <= removed_s]
    after = [s.at_s for s in session_states if s.at_s > removed_s and not s.unlocked]
    if before[-1].unlocked:
        found.locked_s[-1].append(after[0] - removed_s + LATE_S if after else inf)
    found.accepted.update(
        int(end_s - removed_s)
        for end_s, answer in session.said
        if answer.decision == "accept" and end_s >= removed_s
    )


def removal_lines(owners: Sequence[Owner], seed: int, size: Size) -> list[str]:
    each = PER_WEARING * -(-size.removals // (PER_WEARING * len(owners)))
    found = remove_from(owners, seed, each)
    times = [np.concatenate(one.locked_s) for one in found.values()]
    lines = [row("", POLICIES), "|---|---|---|---|"]
    for name, wanted in (("median", 0.5), ("95th percentile", 0.95), ("99th percentile", 0.99)):
        figures = (interval(one.locked_s, quantile(wanted)) for one in found.values())
        lines.append(row(f"taken out to locked, s, {name}", figures))
    lines.append(row("removals of open sessions", (str(t.size) for t in times)))
    for limit_s in (1.0, 1.5, 2.0):
        cells = (share(int((t > limit_s).sum()), t.size) for t in times)
        lines.append(row(f"sessions still open {limit_s:g} s after", cells))
    tried = 2 * len(owners) * each  # windows in each second
    for second in range(4):
        cells = (share(one.accepted[second], tried) for one in found.values())
        lines.append(row(f"windows accepted that end {second}-{second + 1} s after", cells))
    return lines


def take_out(owner: Owner, chance: np.random.Generator, seed: int) -> list[tuple[Tape, float]]:
    """Wear it once and take it out at several times, each as if the others had not been."""
    assert owner.person is not None
    by = owner.encoder
    analyzer, first, received_s = StreamAnalyzer(by.preparation, BALANCED), Tape(), 0.0
    worn = simulate(owner.person, Scene(duration_s=50.0, session=1), seed=seed).recording.samples
    taken = []
    for removed_s in 20.0 + 4.0 * np.arange(PER_WEARING) + chance.random(PER_WEARING):
        until_s = np.floor(removed_s) - 1.0  # till there both recordings are the same
        part = worn[:, round(received_s * RATE_HZ) : round(until_s * RATE_HZ)]
        analyzer, more = listen(by, analyzer, part, received_s)
        first, received_s = [*first, *more], until_s
        scene = Scene(duration_s=50.0, session=1, removed_at_s=removed_s)
        samples = simulate(owner.person, scene, seed=seed).recording.samples
        last = samples[:, round(received_s * RATE_HZ) : round((removed_s + 5.0) * RATE_HZ)]
        taken.append(
            ([*first, *listen(by, copy.deepcopy(analyzer), last, received_s)[1]], float(removed_s))
        )
    return taken


def motion_lines(owners: Sequence[Owner], folder: Path, seed: int) -> list[str]:
    """Lay up to a minute of real head motion over simulated hearts, after 40 quiet seconds."""
    motions: dict[str, list[FloatArray]] = defaultdict(list)
    place = str(folder / "classyglass-dev.zip")
    for loaded in load_all(open_dataset(place), rate_hz=100.0, workers=1):
        activity = loaded.recording.labels.get("activity") if loaded.recording else None
        if loaded.recording and activity and loaded.recording.duration_s > 60.0:
            motions[activity].append(loaded.recording.samples[:, 300:6300])
    lines = [row("", [*POLICIES, "hours"]), "|---" * 5 + "|"]
    for activity in ("reading", "computer", "moving head or body", "standing up", "walking"):
        counts = {name: Counter[str]() for name in POLICIES}
        hours = 0.0
        for owner, motion in zip(owners, motions[activity], strict=False):
            moved = move(owner, motion, seed)
            hours += (moved[-1].at_s - 40.0) / 3600.0
            for name, policy in POLICIES.items():
                session_states = play(moved, owner, policy, again=True)
                counts[name].update(
                    after.reason.value for _, after in closings(session_states) if after.at_s > 40.0
                )
        cells = [f"{_per_hour(count, hours)}" for count in counts.values()]
        lines.append(row(activity, [*cells, f"{hours:.2f}"]))
    return lines


def _per_hour(counts: Counter[str], hours: float) -> str:
    return ", ".join(f"{name} {n / hours:.0f}" for name, n in counts.most_common()) or "none"


def move(owner: Owner, motion: FloatArray, seed: int) -> Tape:
    """Sit still for 40 s and then move as somebody did: turns against gravity are kept."""
    extra = motion - np.median(motion, axis=1, keepdims=True)
    whole = np.hstack([np.zeros((3, 4000)), extra])
    scene = Scene(duration_s=whole.shape[1] / RATE_HZ, session=1, motion=whole)
    assert owner.person is not None
    return tape(owner.encoder, simulate(owner.person, scene, seed=seed).recording.samples)


# --- cost -----------------------------------------------------------------------------------------


def run_one_stream(length_s: int, seed: int) -> None:
    """Run one session for long, and print what it cost: alone in its process."""
    person = draw_person(0, seed=seed)
    first = simulate(person, Scene(duration_s=360.0), seed=seed).recording
    by = shipped()
    template = enroll_as_product(by, [first])
    samples = wear(person, 60.0, session=1, seed=seed)
    session = Session(template, by.cohort, by.preparation, by.embed, person="owner")
    drift, memory = 1.0 + 1e-4, list[int]()
    spent_s = time.process_time()
    for start in range(0, length_s * RATE_HZ, HOP):
        now_s = drift * (start + HOP) / RATE_HZ
        part = samples[:, start % 6000 : start % 6000 + HOP]
        session.push(part, np.ones(HOP, dtype=bool), now_s)
        if start % (length_s * RATE_HZ // 4) == 0:
            memory.append(resident_mb())
    spent_s = time.process_time() - spent_s
    lag_s = session._analyzer._pace.lag_s if session._analyzer._pace else inf
    print(f"{100 * spent_s / length_s:.2f} {memory[1]} {resident_mb()} {lag_s:.3f}")


def resident_mb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * resource.getpagesize() / 2**20)


def cost_lines(length_s: int) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.session", "--one-stream", str(length_s)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    core, early, late, lag = ran.stdout.split()
    return [
        row("", ["measured", "aim"]),
        "|---|---|---|",
        row("one stream at 2 decisions a second, % of a core", [core, "below 1"]),
        row("resident memory, MB", [late, "below 120"]),
        row(
            f"the same after a quarter of {length_s / 3600:g} simulated hours", [early, "the same"]
        ),
        row("samples behind a clock that drifts by 100 ppm, s", [lag, "0"]),
    ]


# --- the page -------------------------------------------------------------------------------------


def write_part(name: str, lines: list[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text("\n".join([before + begin, *lines, end]) + after, encoding="utf-8")


class Bench:
    """Everything that can be measured, by name; people are made when first asked for."""

    def __init__(self, size: Size, seed: int, data: Path | None, *, deal: int, drawn: bool) -> None:
        self.size, self.seed, self.data, self.deal, self.drawn = size, seed, data, deal, drawn
        self.curves: Curves = {}
        self.parts: dict[str, Callable[[], list[str]]] = {
            "simulated": lambda: table(self.owners),
            "simulated curve": lambda: self.curve("simulated, in the ear", self.owners),
            "removal": lambda: removal_lines(self.some_owners, seed, size),
            "cost": lambda: cost_lines(size.long_s),
        }
        if data is not None:
            self.parts |= {
                "motion": lambda: motion_lines(self.owners, data, seed),
                "real": lambda: real_lines(self.real),
                "real curve": lambda: self.curve("MSCardio, on the chest", self.real.owners),
                "noise": lambda: noise_lines(self.real.owners, seed, size.noises),
            }

    @cached_property
    def owners(self) -> list[Owner]:
        return simulate_owners(self.size.people, self.seed, self.size)

    @cached_property
    def some_owners(self) -> list[Owner]:
        """Those whose earphones are taken out, without waiting for the others."""
        if "owners" in vars(self):
            return self.owners[: self.size.removed]
        return simulate_owners(min(self.size.people, self.size.removed), self.seed, self.size)

    @cached_property
    def real(self) -> RealPeople:
        assert self.data is not None
        return find_real_people(self.data, self.deal, self.size)

    def curve(self, title: str, owners: Sequence[Owner]) -> list[str]:
        self.curves[title] = session_curve(owners), plain_curve(owners)
        if self.drawn:
            draw(self.curves)
        return curve_lines(*self.curves[title])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help="what to measure; everything when not given")
    parser.add_argument("--quick", action="store_true", help="few people, to see that it runs")
    parser.add_argument("--people", type=int, help="how many are simulated")
    parser.add_argument("--development", action="store_true", help="whom constants are chosen on")
    parser.add_argument("--deal", type=int, default=REPORTED_DEAL, help="of the fold models")
    parser.add_argument("--day", action="store_true", help="run one stream for 24 simulated hours")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/session.md")
    parser.add_argument("--one-stream", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    seed = DEVELOPMENT if chosen.development else REPORTED
    if chosen.one_stream:
        run_one_stream(chosen.one_stream, seed)
        return 0
    size = QUICK if chosen.quick else FULL
    size = replace(size, people=chosen.people) if chosen.people else size
    size = replace(size, long_s=86400) if chosen.day else size
    named = os.environ.get("ACCLOCK_DATA")
    data = Path(named) if named else None
    bench = Bench(size, seed, data, deal=chosen.deal, drawn=chosen.write)
    if stray := set(chosen.part) - set(bench.parts):
        parser.error(f"there is no part {stray.pop()!r}; there are {', '.join(bench.parts)}")
    for name in chosen.part or bench.parts:
        lines = bench.parts[name]()
        print(f"\n{name}\n" + "\n".join(lines), flush=True)
        if chosen.write:
            write_part(name, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
