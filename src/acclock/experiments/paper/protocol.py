"""The paper's protocol: everybody once the owner, everybody else a stranger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from acclock.experiments.gallery import Gallery
from acclock.experiments.scores import equal_error_of
from acclock.experiments.trials import (
    EnrollmentPlan,
    Trials,
    enroll_all,
    plan_cross_session,
    plan_within_session,
    try_all,
)
from acclock.matching.centers import are_unit
from acclock.matching.cohort import Cohort as Strangers
from acclock.matching.enrollment import enroll
from acclock.matching.rates import far, frr
from acclock.matching.threshold import RULES
from acclock.values import BoolArray, FloatArray

Role = Literal["both", "enrolls", "tried", "always-enrolls"]
Rates = dict[str, float]

NOW = datetime(2000, 1, 1, tzinfo=UTC)
"""When these templates are made: no figure hangs on a clock."""
_FARS = np.geomspace(0.001, 0.5, 24)
_RULES = {"": RULES["paper"], "_left_out": RULES["leave-one-out"]}
"""Ending of a rate's name -> rule of its thresholds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowUse:
    """What some windows of a person are for."""

    rows: FloatArray
    role: Role
    session: int
    tried: FloatArray | None = None
    """The same windows as they are when they are tried, where that is not as they enroll."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredGallery:
    """Everybody's windows with what each is for."""

    gallery: Gallery
    tried: FloatArray
    """The rows of the gallery as they are when they are tried."""
    roles: tuple[Role, ...]
    """One for each recording."""
    sessions: tuple[int, ...]
    """One for each recording."""

    def select(self, *roles: Role) -> BoolArray:
        """Tell which windows have one of these roles."""
        chosen = np.array([role in roles for role in self.roles])
        return np.asarray(chosen[self.gallery.recordings])

    @property
    def later(self) -> BoolArray:
        """Which windows lie in the later half of their wearer's sessions."""
        pool, wearers = self.select("both", "enrolls"), self.gallery.wearers
        sessions = np.array(self.sessions)[self.gallery.recordings]
        halves = [
            len(np.unique(sessions[pool & (wearers == who)])) // 2
            for who in range(self.gallery.people)
        ]
        return np.asarray(sessions >= np.array(halves)[wearers])


def score_gallery(people: Sequence[Sequence[WindowUse]]) -> ScoredGallery:
    """Put everybody's windows in one matrix."""
    parts = [(who, part) for who, theirs in enumerate(people) for part in theirs]
    counts = [len(part.rows) for _, part in parts]
    return ScoredGallery(
        gallery=Gallery(
            embeddings=np.concatenate([part.rows for _, part in parts]),
            wearers=np.repeat([who for who, _ in parts], counts),
            recordings=np.repeat(np.arange(len(parts)), counts),
        ),
        tried=np.concatenate(
            [part.rows if part.tried is None else part.tried for _, part in parts]
        ),
        roles=tuple(part.role for _, part in parts),
        sessions=tuple(part.session for _, part in parts),
    )


def judge(
    scored: ScoredGallery, strangers: Strangers, *, enrolled: int | None = None, seed: int = 0
) -> list[Rates]:
    """Give the rates of every person: within all sessions, and from earlier to later ones.

    Paper: Sec. 7.2.1, where a random third of a person's windows registers and the others are
    tried, each third in turn. ``cross`` rates are ours: the first half of the sessions enrolls.
    """
    planned = plan_thirds(scored, enrolled=enrolled, seed=seed)
    within = _rate(scored, planned, strangers, tried=scored.select("both", "tried"))
    if not all(_can_cross(scored, who) for who in range(scored.gallery.people)):
        return within
    across = _spread_out(scored, plan_cross_session(_pool(scored)), enrolled=None, seed=seed)
    crossed = _rate(scored, across, strangers, tried=scored.select("both", "tried") & scored.later)
    return [
        one | {f"cross_{name}": value for name, value in other.items()}
        for one, other in zip(within, crossed, strict=True)
    ]


def trade_off(
    scored: ScoredGallery, *, enrolled: int | None = None, seed: int = 0
) -> list[tuple[float, float]]:
    """Give FAR and FRR at one threshold after another, each the mean over all templates."""
    trials = try_thirds(scored, enrolled=enrolled, seed=seed)
    tried = scored.select("both", "tried")
    # what has no distance is rejected, as if it were endlessly far
    distances = np.nan_to_num(trials.distances, nan=np.inf)
    curves = [
        _reject(column[own & tried], column[others & tried])
        for column, own, others in zip(distances.T, trials.own.T, trials.others.T, strict=True)
    ]
    return [(float(x), float(y)) for x, y in zip(_FARS, np.mean(curves, axis=0), strict=True)]


def try_thirds(scored: ScoredGallery, *, enrolled: int | None = None, seed: int = 0) -> Trials:
    """Try all windows against the templates of the paper's protocol."""
    return _try(scored, plan_thirds(scored, enrolled=enrolled, seed=seed))


def _try(scored: ScoredGallery, planned: EnrollmentPlan) -> Trials:
    centers = enroll_all(scored.gallery, planned)
    return try_all(replace(scored.gallery, embeddings=scored.tried), planned, centers, windows=1)


def _reject(own: FloatArray, others: FloatArray) -> FloatArray:
    """Give the share of a user's windows that is rejected where so many others' are accepted."""
    thresholds = np.quantile(others, _FARS, method="lower")
    return np.asarray((own[:, np.newaxis] >= thresholds).mean(axis=0))


def plan_thirds(scored: ScoredGallery, *, enrolled: int | None, seed: int) -> EnrollmentPlan:
    """Plan the templates of the paper's protocol: three for each person."""
    return _spread_out(
        scored, plan_within_session(_pool(scored), seed=seed), enrolled=enrolled, seed=seed
    )


def average_by_owner(rates: Sequence[Mapping[str, float]], owners: Sequence[int]) -> list[Rates]:
    """Average the rates of a person's templates."""
    people = sorted(set(owners))
    mine = [[one for one, who in zip(rates, owners, strict=True) if who == x] for x in people]
    return [
        {name: float(np.mean([one[name] for one in some])) for name in some[0]} for some in mine
    ]


def _pool(scored: ScoredGallery) -> Gallery:
    kept = scored.select("both", "enrolls")
    gallery = scored.gallery
    return replace(
        gallery,
        embeddings=gallery.embeddings[kept],
        wearers=gallery.wearers[kept],
        recordings=gallery.recordings[kept],
    )


def _spread_out(
    scored: ScoredGallery, planned: EnrollmentPlan, *, enrolled: int | None, seed: int
) -> EnrollmentPlan:
    """Bring a plan of the windows that may enroll to all windows, with as many as are wanted."""
    chance = np.random.default_rng([seed, 1])
    everything = np.zeros((len(planned.owners), len(scored.gallery)), dtype=bool)
    everything[:, scored.select("both", "enrolls")] = planned.enrolled
    if enrolled is not None:
        for row in everything:
            chosen = chance.permutation(np.flatnonzero(row))
            row[chosen[enrolled:]] = False
    mine = scored.gallery.wearers == planned.owners[:, np.newaxis]
    return replace(planned, enrolled=everything | (mine & scored.select("always-enrolls")))


def _can_cross(scored: ScoredGallery, who: int) -> bool:
    pool = scored.select("both", "enrolls") & (scored.gallery.wearers == who)
    sessions = np.array(scored.sessions)[scored.gallery.recordings]
    return len(np.unique(sessions[pool])) > 1


def _rate(
    scored: ScoredGallery, planned: EnrollmentPlan, strangers: Strangers, *, tried: BoolArray
) -> list[Rates]:
    gallery = scored.gallery
    trials = _try(scored, planned)
    thresholds = {ending: _choose(gallery, planned, strangers, ending) for ending in _RULES}
    rates = [
        _rate_template(trials, template, tried, {k: v[template] for k, v in thresholds.items()})
        for template in range(len(planned.owners))
    ]
    return average_by_owner(rates, planned.owners.tolist())


def _rate_template(
    trials: Trials, template: int, tried: BoolArray, thresholds: Mapping[str, float]
) -> Rates:
    distances = trials.distances[:, template]
    own = distances[trials.own[:, template] & tried]
    others = distances[trials.others[:, template] & tried]
    rates: Rates = {}
    for ending, threshold in thresholds.items():
        rates[f"far{ending}"] = float(far(others, threshold))
        rates[f"frr{ending}"] = float(frr(own, threshold))
    return rates | {"equal_error": equal_error_of(own, others)}


def _choose(
    gallery: Gallery, planned: EnrollmentPlan, strangers: Strangers, ending: str
) -> FloatArray:
    usable = are_unit(gallery.embeddings)
    thresholds = np.full(len(planned.owners), np.nan)
    for number, mask in enumerate(planned.enrolled & usable):
        if np.count_nonzero(mask) >= 2:
            template = enroll(
                gallery.embeddings[mask], cohort=strangers, now=NOW, rule=_RULES[ending]
            )
            thresholds[number] = template.threshold
    return thresholds
