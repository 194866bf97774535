"""Rates of recorded people some days after they enrolled."""

from datetime import datetime
from itertools import pairwise

import numpy as np

from acclock.errors import UnreadableError
from acclock.experiments.paper.cohorts import Member
from acclock.experiments.paper.encoders import embed_member, train_encoder
from acclock.experiments.paper.measures.rates import find_cast, find_lesson
from acclock.experiments.paper.protocol import NOW, Rates
from acclock.experiments.paper.units import Outcome, Unit
from acclock.experiments.scores import equal_error_of
from acclock.matching.centers import distances_to
from acclock.matching.enrollment import enroll
from acclock.matching.rates import far, frr
from acclock.matching.template import Template
from acclock.matching.threshold import RULES
from acclock.values import FloatArray

EDGES_DAYS = (1, 8, 15, 29, 57, 1000)
"""From which day on a stretch begins: ``setting`` counts the stretches from 0."""
_FEWEST = 2
"""Windows that make a template."""


def measure(unit: Unit) -> Outcome:
    """Enroll everybody on their first day, and try what they recorded in a stretch of days after.

    Strangers are tried with all that they recorded. Who did not come in that stretch is left out.
    Drawn: how often the person with the most recordings was rejected, by days since enrollment.
    """
    encoder = train_encoder(find_lesson(unit))
    members = [one for one in find_cast(unit) if len(one.recordings) > 1]
    rows = {one.name: embed_member(find_lesson(unit), one.name) for one in members}
    rule, strangers = RULES["paper"], encoder.strangers
    templates = {
        one.name: enroll(
            np.concatenate(_of_first_day(one, rows[one.name])), cohort=strangers, now=NOW, rule=rule
        )
        for one in members
        if sum(map(len, _of_first_day(one, rows[one.name]))) >= _FEWEST
    }
    low, high = list(pairwise(EDGES_DAYS))[round(unit.variant.setting)]
    people = {}
    for one in members:
        mine = [
            found
            for found, days in zip(rows[one.name], count_days(one), strict=True)
            if low <= days < high and len(found)
        ]
        if mine and one.name in templates:
            others = np.concatenate([x for name in rows if name != one.name for x in rows[name]])
            people[one.name] = _rate(templates[one.name], np.concatenate(mine), others)
    longest = max(members, key=lambda one: len(one.recordings))
    return Outcome(
        people=people, series={longest.name: _follow(longest, rows[longest.name], templates)}
    )


def count_days(member: Member) -> list[int]:
    """Say on which day after the first each recording was made."""
    starts = [one.start for one in member.recordings]
    known: list[datetime] = [start for start in starts if start is not None]
    if len(known) < len(starts):
        raise UnreadableError(f"a recording of {member.name} does not say when it was made")
    return [(start - known[0]).days for start in known]


def _of_first_day(member: Member, rows: tuple[FloatArray, ...]) -> list[FloatArray]:
    days = count_days(member)
    return [found for found, day in zip(rows, days, strict=True) if day == 0]


def _rate(template: Template, own: FloatArray, others: FloatArray) -> Rates:
    mine, theirs = (distances_to(template.center, some) for some in (own, others))
    return {
        "far": float(far(theirs, template.threshold)),
        "frr": float(frr(mine, template.threshold)),
        "equal_error": equal_error_of(mine, theirs),
    }


def _follow(
    member: Member, rows: tuple[FloatArray, ...], templates: dict[str, Template]
) -> list[tuple[float, float]]:
    if member.name not in templates:
        return []
    template = templates[member.name]
    return [
        (float(day), float(frr(distances_to(template.center, found), template.threshold)))
        for found, day in zip(rows, count_days(member), strict=True)
        if day and len(found)
    ]
