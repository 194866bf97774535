"""How often a window passes in which its owner took the earphone out."""

import numpy as np

from acclock.experiments.paper.cache import Piece, cut
from acclock.experiments.paper.cohorts import Member
from acclock.experiments.paper.encoders import Encoder, embed_member, train_encoder
from acclock.experiments.paper.measures.rates import find_cast, find_lesson
from acclock.experiments.paper.protocol import NOW, Rates
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.centers import distances_to
from acclock.matching.enrollment import enroll
from acclock.matching.threshold import RULES
from acclock.simulation import Scene, simulate
from acclock.values import BoolArray, FloatArray

_BEFORE_S = 20.0
_WINDOW_S = 4.0
_REMOVALS = 3
"""Of each person, in each mounting."""


def measure(unit: Unit) -> Outcome:
    """Enroll everybody with all their windows, and try windows in which the earphone goes.

    Paper: Sec. 7.4.10. ``setting`` is the moment within the window, in seconds.
    """
    encoder = train_encoder(find_lesson(unit))
    return Outcome(people={one.name: _try(unit, one, encoder) for one in find_cast(unit)})


def _try(unit: Unit, member: Member, encoder: Encoder) -> Rates:
    rows = np.concatenate(embed_member(find_lesson(unit), member.name))
    template = enroll(rows, cohort=encoder.strangers, now=NOW, rule=RULES["paper"])
    last, faultless = _remove(unit, member, encoder)
    passed = distances_to(template.center, last) < template.threshold
    return {"far": float(passed.mean()), "gated_far": float((passed & faultless).mean())}


def _remove(unit: Unit, member: Member, encoder: Encoder) -> tuple[FloatArray, BoolArray]:
    pieces = [
        _take_out(unit, member, encoder, session=session, seed=seed)
        for session in range(unit.scale.sessions)
        for seed in range(1, 1 + _REMOVALS)
    ]
    windows = np.concatenate([piece.windows[-1:] for piece in pieces])
    return encoder.embed(windows), np.array([piece.faultless[-1] for piece in pieces])


def _take_out(unit: Unit, member: Member, encoder: Encoder, *, session: int, seed: int) -> Piece:
    if member.person is None:
        raise TypeError(f"{member.name} is a recording; nobody can take the earphone out again")
    scene = Scene(
        duration_s=_BEFORE_S + _WINDOW_S,
        session=session,
        removed_at_s=_BEFORE_S + unit.variant.setting,
    )
    return cut(simulate(member.person, scene, seed=seed).recording, encoder.preparation)
