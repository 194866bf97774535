"""FAR and FRR of everybody in a fold, under the condition of a variant."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from acclock.experiments.paper.changes import change
from acclock.experiments.paper.cohorts import Member
from acclock.experiments.paper.encoders import (
    Encoder,
    Lesson,
    embed_member,
    find_tried,
    train_encoder,
)
from acclock.experiments.paper.pieces import cut_windows, lose
from acclock.experiments.paper.protocol import Hall, Part, Role, fill_hall, judge, trade_off
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.cohort import Cohort as Strangers
from acclock.simulation import Person, Scene, draw_person, simulate
from acclock.values import FloatArray

_PATIENTS = 5
"""With each heart condition and in each fold, as in the paper."""
_FIRST_PATIENT = 1000
_TALK_AGAIN = 7
"""The seed of what is enrolled under a condition: it is not what is tried."""


def measure(unit: Unit) -> Outcome:
    """Train without the people of the fold, enroll them, and try everybody against everyone."""
    names, hall, strangers = fill_unit(unit)
    enrolled = unit.variant.enrolled
    rates = judge(hall, strangers, enrolled=enrolled, seed=unit.seed)
    return Outcome(
        people=dict(zip(names, rates, strict=True)),
        series={"det": trade_off(hall, enrolled=enrolled, seed=unit.seed)},
    )


def fill_unit(unit: Unit) -> tuple[list[str], Hall, Strangers]:
    """Give who takes part, everybody's windows, and the strangers who set thresholds."""
    encoder = train_encoder(find_lesson(unit))
    people = {member.name: cast(unit, member, encoder) for member in find_cast(unit)}
    present = {name: parts for name, parts in people.items() if _is_present(parts)}
    return list(present), fill_hall(list(present.values())), encoder.strangers


def find_lesson(unit: Unit) -> Lesson:
    """Say what the encoder of a unit learns."""
    variant, scale = unit.variant, unit.scale
    return Lesson(
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


def cast(unit: Unit, member: Member, encoder: Encoder) -> list[Part]:
    """Give the windows of a person with what each is for."""
    variant, scene = unit.variant, unit.variant.scene
    if scene and member.person is None:
        return change_member(unit, member, encoder)
    role: Role = "enrolls" if scene else "both"
    parts = [
        Part(rows=rows, role=role, session=when)
        for when, rows in enumerate(_embed_own(unit, member, encoder))
    ]
    if scene:
        parts += act(unit, member, encoder)
    if variant.also_enrolled:
        more = act(unit, member, encoder, seed=_TALK_AGAIN)
        enrolls: Role = "always-enrolls"
        parts += _take([replace(part, role=enrolls) for part in more], variant.also_enrolled)
    return parts


def act(unit: Unit, member: Member, encoder: Encoder, *, seed: int = 1) -> list[Part]:
    """Let a simulated person live through the variant's scene, once in each mounting."""
    if member.person is None:
        raise TypeError(f"{member.name} is a recording, and cannot live through anything")
    scenes = [
        Scene(duration_s=unit.scale.tested_s, session=when, **unit.variant.scene)  # type: ignore[arg-type]
        for when in range(len(member.recordings))
    ]
    return [
        Part(
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


def change_member(unit: Unit, member: Member, encoder: Encoder) -> list[Part]:
    """Give the windows of a recorded person, as they enroll and as the scene would have them."""
    chance = np.random.default_rng([unit.seed, unit.fold, *member.name.encode()])
    changed = [
        change(one, unit.variant.scene, motions=unit.cohort.motions, chance=chance)
        for one in member.recordings
    ]
    tried = [encoder.embed(cut_windows(one, encoder.preparation)) for one in changed]
    own = _embed_own(unit, member, encoder)
    return [
        Part(rows=rows, tried=others, role="both", session=when)
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


def _take(parts: list[Part], count: int) -> list[Part]:
    """Keep the first so many windows, from all parts as evenly as it goes."""
    each = -(-count // len(parts)) if parts else 0
    taken, left = [], count
    for part in parts:
        rows = part.rows[: min(each, left)]
        left -= len(rows)
        taken.append(replace(part, rows=rows))
    return [part for part in taken if len(part.rows)]


def _is_present(parts: list[Part]) -> bool:
    """Tell whether there are windows enough to enroll and to be tried."""
    pool = sum(len(part.rows) for part in parts if part.role in ("both", "enrolls"))
    return pool >= 9 and all(len(part.rows) for part in parts)
