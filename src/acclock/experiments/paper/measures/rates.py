"""FAR and FRR of everybody in a fold, under the condition of a variant."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from acclock.experiments.paper.cache import cut_windows, lose
from acclock.experiments.paper.cohorts import Member
from acclock.experiments.paper.encoders import (
    Encoder,
    EncoderRequest,
    embed_member,
    find_tried,
    train_encoder,
)
from acclock.experiments.paper.protocol import (
    Role,
    ScoredGallery,
    WindowUse,
    judge,
    score_gallery,
    trade_off,
)
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.cohort import Cohort as Strangers
from acclock.simulation import Person, Scene, draw_person, simulate
from acclock.simulation.mounting import turn
from acclock.training.corpora import open_recordings
from acclock.training.grid import RECORDED_HZ
from acclock.values import FloatArray, Recording

ACTIVITIES = {"head-shake": "moving head or body", "walk": "walking", "run": "running"}
"""A scene's movement -> what people did whose heads were recorded."""


def change(
    recording: Recording,
    scene: Mapping[str, str | float],
    *,
    motions: Path | None,
    chance: np.random.Generator,
) -> Recording:
    """Give the recording with its axes turned, or with the motion of somebody's head on top.

    The motion is added as it was recorded; where the data set has too little of it in one piece,
    other pieces follow.
    """
    samples = recording.samples
    if angle := scene.get("angle_deg"):
        samples = turn(np.array([0.0, 0.0, float(angle)])) @ samples
    activity = ACTIVITIES.get(str(scene.get("movement")))
    if activity and motions is not None:
        samples = samples + _draw_motion(read_motions(motions, activity), len(recording), chance)
    return replace(recording, samples=samples)


@lru_cache(maxsize=4)
def read_motions(path: Path, activity: str) -> tuple[FloatArray, ...]:
    """Give how heads moved in an activity, without gravity."""
    place = open_recordings(
        f"{path}#activity={activity}", rate_hz=RECORDED_HZ, on_progress=lambda *_: None
    )
    whole = [one.samples[:, one.received] for one in place.recordings]
    return tuple(one - np.median(one, axis=1, keepdims=True) for one in whole)


def _draw_motion(
    motions: tuple[FloatArray, ...], length: int, chance: np.random.Generator
) -> FloatArray:
    drawn: list[FloatArray] = []
    while sum(one.shape[1] for one in drawn) < length:
        drawn.append(motions[chance.integers(len(motions))])
    whole = np.concatenate(drawn, axis=1)
    begin = chance.integers(whole.shape[1] - length + 1)
    return np.asarray(whole[:, begin : begin + length])


_PATIENTS = 5
"""With each heart condition and in each fold, as in the paper."""
_FIRST_PATIENT = 1000
_TALK_AGAIN = 7
"""The seed of what is enrolled under a condition: it is not what is tried."""


def measure(unit: Unit) -> Outcome:
    """Train without the people of the fold, enroll them, and try everybody against everyone."""
    names, scored, strangers = fill_unit(unit)
    enrolled = unit.variant.enrolled
    rates = judge(scored, strangers, enrolled=enrolled, seed=unit.seed)
    return Outcome(
        people=dict(zip(names, rates, strict=True)),
        series={"det": trade_off(scored, enrolled=enrolled, seed=unit.seed)},
    )


def fill_unit(unit: Unit) -> tuple[list[str], ScoredGallery, Strangers]:
    """Give who takes part, everybody's windows, and the strangers who set thresholds."""
    encoder = train_encoder(find_lesson(unit))
    people = {member.name: cast(unit, member, encoder) for member in find_cast(unit)}
    present = {name: parts for name, parts in people.items() if _is_present(parts)}
    return list(present), score_gallery(list(present.values())), encoder.strangers


def find_lesson(unit: Unit) -> EncoderRequest:
    """Say what the encoder of a unit learns."""
    variant, scale = unit.variant, unit.scale
    return EncoderRequest(
        cohort=unit.cohort,
        scale=scale,
        fold=unit.fold,
        seed=unit.seed,
        recipe=unit.recipe,
        learned=variant.learned,
        learns_lost=variant.learns_lost,
    )


def find_cast(unit: Unit) -> list[Member]:
    """Give the people of the fold, or as many people with the variant's heart condition."""
    condition = unit.variant.condition
    if condition == "healthy":
        return find_tried(unit.cohort, unit.scale, fold=unit.fold, seed=unit.seed)
    first = _FIRST_PATIENT + _PATIENTS * unit.fold
    people = [
        draw_person(index, seed=unit.seed, condition=condition)
        for index in range(first, first + _PATIENTS)
    ]
    return [_wear(person, unit) for person in people]


def cast(unit: Unit, member: Member, encoder: Encoder) -> list[WindowUse]:
    """Give the windows of a person with what each is for."""
    variant, scene = unit.variant, unit.variant.scene
    if scene and member.person is None:
        return change_member(unit, member, encoder)
    role: Role = "enrolls" if scene else "both"
    parts = [
        WindowUse(rows=rows, role=role, session=when)
        for when, rows in enumerate(_embed_own(unit, member, encoder))
    ]
    if scene:
        parts += act(unit, member, encoder)
    if variant.also_enrolled:
        more = act(unit, member, encoder, seed=_TALK_AGAIN)
        enrolls: Role = "always-enrolls"
        parts += _take([replace(part, role=enrolls) for part in more], variant.also_enrolled)
    return parts


def act(unit: Unit, member: Member, encoder: Encoder, *, seed: int = 1) -> list[WindowUse]:
    """Let a simulated person live through the variant's scene, once in each mounting."""
    if member.person is None:
        raise TypeError(f"{member.name} is a recording, and cannot live through anything")
    scenes = [
        Scene(duration_s=unit.scale.tested_s, session=when, **unit.variant.scene)  # type: ignore[arg-type]
        for when in range(len(member.recordings))
    ]
    return [
        WindowUse(
            rows=encoder.embed(
                cut_windows(
                    simulate(member.person, scene, seed=seed).recording, encoder.preparation
                )
            ),
            role="tried",
            session=scene.session,
        )
        for scene in scenes
    ]


def change_member(unit: Unit, member: Member, encoder: Encoder) -> list[WindowUse]:
    """Give the windows of a recorded person, as they enroll and as the scene would have them."""
    chance = np.random.default_rng([unit.seed, unit.fold, *member.name.encode()])
    changed = [
        change(one, unit.variant.scene, motions=unit.cohort.motions, chance=chance)
        for one in member.recordings
    ]
    tried = [encoder.embed(cut_windows(one, encoder.preparation)) for one in changed]
    own = _embed_own(unit, member, encoder)
    return [
        WindowUse(rows=rows, tried=others, role="both", session=when)
        for when, (rows, others) in enumerate(zip(own, tried, strict=True))
    ]


def _embed_own(unit: Unit, member: Member, encoder: Encoder) -> Sequence[FloatArray]:
    variant = unit.variant
    if variant.condition == "healthy" and not variant.lost:
        return embed_member(find_lesson(unit), member.name)
    chance = np.random.default_rng([unit.seed, unit.fold, *member.name.encode()])
    lossy = [lose(recording, variant.lost, chance) for recording in member.recordings]
    return [encoder.embed(cut_windows(recording, encoder.preparation)) for recording in lossy]


def _wear(person: Person, unit: Unit) -> Member:
    scale = unit.scale
    scenes = [Scene(duration_s=scale.session_s, session=when) for when in range(scale.sessions)]
    recordings = tuple(simulate(person, scene).recording for scene in scenes)
    return Member(name=f"{person.condition}/{person.name}", recordings=recordings, person=person)


def _take(parts: list[WindowUse], count: int) -> list[WindowUse]:
    """Keep the first so many windows, from all parts as evenly as it goes."""
    each = -(-count // len(parts)) if parts else 0
    taken, left = [], count
    for part in parts:
        rows = part.rows[: min(each, left)]
        left -= len(rows)
        taken.append(replace(part, rows=rows))
    return [part for part in taken if len(part.rows)]


def _is_present(parts: list[WindowUse]) -> bool:
    """Tell whether there are windows enough to enroll and to be tried."""
    pool = sum(len(part.rows) for part in parts if part.role in ("both", "enrolls"))
    return pool >= 9 and all(len(part.rows) for part in parts)
