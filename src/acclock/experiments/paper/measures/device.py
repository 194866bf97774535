"""An encoder taught one earphone, adapted to another by a few who wear it, tried on more."""

from dataclasses import replace

import numpy as np

from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.experiments.paper.cache import Piece, cut_once
from acclock.experiments.paper.cohorts import Member, gather_members
from acclock.experiments.paper.encoders import learn_once
from acclock.experiments.paper.protocol import WindowUse, judge, score_gallery, trade_off
from acclock.experiments.paper.units import Outcome, Unit
from acclock.matching.centers import are_unit
from acclock.matching.cohort import Cohort as Strangers
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.adaptation import AdaptConfig, adapt_model
from acclock.training.batches import keep_axes
from acclock.training.export import describe_model, embed_eagerly
from acclock.training.grid import Windows
from acclock.training.recipe import Recipe, read_recipe
from acclock.training.subjects import Subject
from acclock.values import FloatArray

_FIRST = 2000
"""Of those who wear the other earphone: nobody of the cohort is among them."""
_TEACH, _TRIED = 10, 11
"""As in the paper."""
_JUDGE = 3
"""Of those who teach: they choose the epoch, and the others teach."""
_EPOCHS = 20
"""As in the paper."""
_STRANGER_WINDOWS = 15


def measure(unit: Unit) -> Outcome:
    """Pretrain on everybody's prototype, adapt to ten people's AirPods, try eleven others.

    Paper: Sec. 7.5. A ``setting`` of 1 adapts; 0 takes the model as it was pretrained.
    """
    recipe = replace(read_recipe(unit.recipe), seed=unit.seed)
    model = learn_once(recipe, _gather(unit, recipe), cache=unit.cohort.cache)
    wearers = [_wear(unit, _FIRST + n) for n in range(_TEACH + _TRIED)]
    subjects = [_cut(unit, recipe, one) for one in wearers]
    if unit.variant.setting:
        model = _adapt(unit, recipe, model, subjects[:_TEACH])
    rows = [[_embed(model, recipe, piece) for piece in theirs] for theirs in subjects]
    known = np.concatenate([np.concatenate(some)[:_STRANGER_WINDOWS] for some in rows[:_TEACH]])
    strangers = Strangers(embeddings=known[are_unit(known)], model="fold")
    scored = score_gallery(
        [
            [WindowUse(rows=some, role="both", session=when) for when, some in enumerate(theirs)]
            for theirs in rows[_TEACH:]
        ]
    )
    rates = judge(scored, strangers, seed=unit.seed)
    names = [one.name for one in wearers[_TEACH:]]
    return Outcome(
        people=dict(zip(names, rates, strict=True)),
        series={"det": trade_off(scored, seed=unit.seed)},
    )


def _gather(unit: Unit, recipe: Recipe) -> list[Subject]:
    members = gather_members(unit.cohort, unit.scale, unit.seed)
    return [_learn_from(one.name, _cut(unit, recipe, one)) for one in members]


def _wear(unit: Unit, index: int) -> Member:
    person = draw_person(index, seed=unit.seed)
    scenes = [
        Scene(duration_s=unit.scale.session_s, session=when, device="airpods")
        for when in range(unit.scale.sessions)
    ]
    recordings = tuple(simulate(person, scene).recording for scene in scenes)
    return Member(name=f"airpods/{person.name}", recordings=recordings, person=person)


def _cut(unit: Unit, recipe: Recipe, member: Member) -> list[Piece]:
    return [
        cut_once(one, recipe.prepared, cache=unit.cohort.cache, session=when)
        for when, one in enumerate(member.recordings)
    ]


def _learn_from(name: str, pieces: list[Piece]) -> Subject:
    sessions = [piece.learned() for piece in pieces]
    return Subject(
        name=name, source="simulated", sessions=tuple(one for one in sessions if len(one.grid))
    )


def _adapt(
    unit: Unit, recipe: Recipe, model: EmbeddingModel, pieces: list[list[Piece]]
) -> EmbeddingModel:
    people = [_learn_from(f"teacher-{n}", theirs) for n, theirs in enumerate(pieces)]
    card = describe_model(
        model,
        recipe,
        name="pretrained",
        people=map(str, range(model.network.name_person.out_features)),
        training_data=("simulated",),
    )
    config = AdaptConfig(seed=unit.seed)
    epochs = _EPOCHS if unit.scale.is_result else unit.scale.epochs
    config = replace(config, stage=replace(config.stage, epochs=epochs))
    return adapt_model(model, card, people[_JUDGE:], people[:_JUDGE], config=config).model


def _embed(model: EmbeddingModel, recipe: Recipe, piece: Piece) -> FloatArray:
    windows: Windows = keep_axes(piece.windows, recipe.axes)
    return embed_eagerly(model, windows)
