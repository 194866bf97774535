"""Rates some weeks after enrollment, from templates that stay or that follow their user."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from acclock.experiments.paper.cohorts import Member
from acclock.experiments.paper.encoders import Encoder, embed_member, train_encoder
from acclock.experiments.paper.measures.rates import act, find_cast, find_lesson
from acclock.experiments.paper.protocol import NOW, Rates, average_by_owner
from acclock.experiments.paper.units import Outcome, Unit
from acclock.experiments.scores import equal_error_of
from acclock.matching.centers import distances_to
from acclock.matching.enrollment import enroll
from acclock.matching.rates import far, frr
from acclock.matching.template import Template
from acclock.matching.threshold import RULES
from acclock.matching.update import UpdatePolicy, update
from acclock.values import FloatArray

_THIRDS = 3


def measure(unit: Unit) -> Outcome:
    """Enroll in week 0 with each third of the windows, and try the week of the variant.

    Paper: Sec. 7.4, long-term use. ``setting`` says through how many weeks templates follow.
    """
    encoder = train_encoder(find_lesson(unit))
    members = find_cast(unit)
    tried = [_embed_week(unit, member, encoder) for member in members]
    templates = [
        (who, template)
        for who, member in enumerate(members)
        for template in _enroll(unit, member, encoder)
    ]
    rates = [_rate(template, who, tried) for who, template in templates]
    averaged = average_by_owner(rates, [who for who, _ in templates])
    return Outcome(people={one.name: rate for one, rate in zip(members, averaged, strict=True)})


def _enroll(unit: Unit, member: Member, encoder: Encoder) -> list[Template]:
    rows = np.concatenate(embed_member(find_lesson(unit), member.name))
    dealt = np.random.default_rng(unit.seed).permutation(len(rows))
    templates = [
        enroll(rows[dealt[third::_THIRDS]], cohort=encoder.strangers, now=NOW, rule=RULES["paper"])
        for third in range(_THIRDS)
    ]
    budget = unit.variant.drift_budget
    policy = UpdatePolicy() if budget is None else UpdatePolicy(drift_budget=budget)
    for week in range(1, round(unit.variant.setting) + 1):
        worn = _embed_week(unit, member, encoder, week=float(week))
        now = NOW + timedelta(days=7 * week)
        templates = [
            update(one, worn, cohort=encoder.strangers, now=now, policy=policy).template
            for one in templates
        ]
    return templates


def _embed_week(
    unit: Unit, member: Member, encoder: Encoder, *, week: float | None = None
) -> FloatArray:
    if week is not None:
        unit = replace(unit, variant=replace(unit.variant, scene={"week": week}))
    return np.concatenate([one.rows for one in act(unit, member, encoder)])


def _rate(template: Template, owner: int, tried: list[FloatArray]) -> Rates:
    distances = [distances_to(template.center, rows) for rows in tried]
    others = np.concatenate([some for who, some in enumerate(distances) if who != owner])
    return {
        "far": float(far(others, template.threshold)),
        "frr": float(frr(distances[owner], template.threshold)),
        "equal_error": equal_error_of(distances[owner], others),
    }
