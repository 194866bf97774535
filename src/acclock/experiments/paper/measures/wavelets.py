"""Continuous wavelet pictures of one second of heartbeat: three users, and three sessions."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product

import numpy as np

from acclock.denoising.bandpass import bandpass
from acclock.denoising.beats import find_beats
from acclock.denoising.wavelets import scalogram
from acclock.errors import TooFewError
from acclock.experiments.paper.cohorts import Member, gather_members
from acclock.experiments.paper.units import Outcome, Unit
from acclock.values import FloatArray, Recording

FREQUENCIES_HZ = np.linspace(1.0, 25.0, 25)
_COLUMNS = 50
_BEFORE_S = 0.35
_USERS, _SESSIONS = 3, 3
_FEWEST, _BEATS = 4, 12
"""Of each recording, from which it is told how alike pictures are."""


def measure(unit: Unit) -> Outcome:
    """Draw the first beats of three users and of three sessions of the last of them.

    Paper: Sec. 2.2, Fig. 3. In numbers, which the paper has not: how alike the pictures of beats
    are within a session, between sessions of a user, and between users.
    """
    members = gather_members(unit.cohort, unit.scale, unit.seed)
    axis = 2 if unit.cohort.is_real else 0  # out of the chest, or along the body
    chosen = list(islice(_find_clear(members, axis), _USERS))
    if len(chosen) < _USERS:
        what = "people with two recordings in which beats can be seen"
        raise TooFewError(what=what, have=len(chosen), need=_USERS)
    users = [sessions[0] for sessions in chosen]
    again = chosen[-1][1:_SESSIONS]
    series = {f"user {n + 1}": some[0].tolist() for n, some in enumerate(users)}
    for n, some in enumerate(again):
        series[f"user {_USERS}, session {n + 2}"] = some[0].tolist()
    return Outcome(
        values={
            "correlation of pictures, within a session": _compare_within(users),
            "correlation of pictures, between sessions": _compare([users[-1], *again]),
            "correlation of pictures, between users": _compare(users),
        },
        series=series,
    )


def _find_clear(members: Sequence[Member], axis: int) -> Iterator[list[list[FloatArray]]]:
    """Give the pictures of the sessions of people, those in which beats can be seen."""
    for member in members:
        drawn = [draw_beats(one, axis) for one in member.recordings[: _SESSIONS + 1]]
        clear = [pictures for pictures in drawn if pictures]
        if len(clear) > 1:
            yield clear


def draw_beats(recording: Recording, axis: int) -> list[FloatArray]:
    """Give the pictures of some beats, J always in the same column, the strongest place 1.

    There are none where too few beats can be seen.
    """
    rate_hz = recording.rate_hz
    heartbeat = bandpass(recording.samples[axis], rate_hz=rate_hz)
    picture = scalogram(heartbeat, rate_hz=rate_hz, frequencies_hz=FREQUENCIES_HZ)
    beats_s = find_beats(heartbeat, rate_hz)
    inside = beats_s[(beats_s > 2.0) & (beats_s < recording.duration_s - 2.0)]
    if len(inside) < _FEWEST:
        return []
    columns = np.linspace(-_BEFORE_S, 1.0 - _BEFORE_S, _COLUMNS, endpoint=False)
    chosen = inside[np.linspace(0, len(inside) - 1, min(_BEATS, len(inside))).astype(int)]
    return [_cut(picture, np.round((beat + columns) * rate_hz).astype(int)) for beat in chosen]


def _cut(picture: FloatArray, columns: FloatArray) -> FloatArray:
    part = picture[:, columns.astype(int)]
    return np.asarray(part / part.max())


def _compare_within(groups: list[list[FloatArray]]) -> float:
    return float(np.mean([_correlate(a, b) for some in groups for a, b in combinations(some, 2)]))


def _compare(groups: list[list[FloatArray]]) -> float:
    pairs = [pair for one, other in combinations(groups, 2) for pair in product(one, other)]
    return float(np.mean([_correlate(a, b) for a, b in pairs]))


def _correlate(one: FloatArray, other: FloatArray) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])
