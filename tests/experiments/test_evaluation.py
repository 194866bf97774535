import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ModelError, TooFewError
from acclock.experiments.evaluation import Evaluation, evaluate, evaluate_folds
from acclock.experiments.gallery import FingerprintedEmbedder, embed_all
from acclock.experiments.panels import Panel
from acclock.experiments.participants import Participant, gather
from acclock.experiments.report import NO_COHORT, WITHIN, describe, summarize
from acclock.experiments.trials import plan_cross_session
from acclock.matching.cohort import Cohort, hash_stranger
from acclock.matching.enrollment import enroll
from acclock.matching.rates import equal_error, far, frr
from acclock.matching.threshold import RULES
from acclock.matching.verification import verify
from acclock.plots.det import draw_det

Make = Callable[..., FingerprintedEmbedder]
NOW = datetime(2025, 1, 6, 8, tzinfo=UTC)


@pytest.fixture(scope="module")
def people(simulated: Path, bands: Make) -> tuple[Participant, ...]:
    card = bands().card
    return gather("simulated", simulated, card=card, fewest_recordings=2).participants


@pytest.fixture(scope="module")
def crossed(people: Sequence[Participant], bands: Make) -> Evaluation:
    return evaluate(people, bands(), protocol="cross-session", rounds=200)


def test_simulated_people_are_told_apart_across_sessions(crossed: Evaluation) -> None:
    assert (crossed.people, crossed.recordings, crossed.windows) == (5, 10, 5 * 2 * 17)
    assert [score.windows for score in crossed.scores] == [1, 5, 15]
    assert [score.own_trials for score in crossed.scores] == [5 * 17, 5 * 3, 5]
    assert [score.other_trials for score in crossed.scores] == [20 * 34, 20 * 6, 20 * 2]
    assert crossed.scores[0].equal_error.value < 0.4
    assert crossed.not_enrolled == crossed.unusable_windows == 0


def test_within_a_session_every_window_is_tried_in_two_rounds_of_three(
    people: Sequence[Participant], bands: Make
) -> None:
    within = evaluate(people, bands(), protocol="within-session", rounds=50)

    (score,) = within.scores
    assert score.own_trials == 2 * 5 * 34
    assert score.other_trials == 3 * 20 * 34
    assert score.equal_error.value < 0.4
    assert WITHIN in describe(within, card=bands().card)["notes"]  # type: ignore[operator]


def test_nobody_is_tried_against_the_people_of_another_fold(
    people: Sequence[Participant], bands: Make
) -> None:
    folds = [tuple(people[:2]), tuple(people[2:])]
    panels = [Panel(participants=fold, embedder=bands()) for fold in folds]

    together = evaluate_folds(panels, protocol="cross-session", rounds=50)
    apart = [evaluate(fold, bands(), protocol="cross-session", rounds=50) for fold in folds]

    assert (together.people, together.windows) == (5, 5 * 2 * 17)
    for number, score in enumerate(together.scores):
        parts = [one.scores[number] for one in apart]
        assert score.own_trials == sum(part.own_trials for part in parts)
        assert score.other_trials == sum(part.other_trials for part in parts)
        least, most = sorted(part.mean_equal_error.value for part in parts)
        assert least <= score.mean_equal_error.value <= most


def test_one_fold_is_a_plain_evaluation(people: Sequence[Participant], bands: Make) -> None:
    panel = Panel(participants=tuple(people), embedder=bands())

    found = evaluate_folds([panel], protocol="cross-session", rounds=200)
    plain = evaluate(people, bands(), protocol="cross-session", rounds=200)

    assert describe(found, card=bands().card) == describe(plain, card=bands().card)


def test_a_gate_turns_windows_away_and_counts_them(
    people: Sequence[Participant], bands: Make
) -> None:
    panel = Panel(participants=tuple(people), embedder=bands())

    gated = evaluate_folds([panel], protocol="cross-session", gated=True, rounds=50)

    assert gated.turned_away >= 5 * 2  # the window of the warm-up of every recording
    assert gated.windows + gated.turned_away == 5 * 2 * 17


def test_the_same_seed_gives_the_same_figures(
    people: Sequence[Participant], bands: Make, crossed: Evaluation
) -> None:
    again = evaluate(people, bands(), protocol="cross-session", rounds=200)

    card = bands().card
    assert describe(again, card=card) == describe(crossed, card=card)


def test_a_cohort_gives_the_errors_at_the_enrolled_threshold(
    people: Sequence[Participant], bands: Make
) -> None:
    rows = np.random.default_rng(0).normal(size=(300, 36))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cohort = Cohort(embeddings=rows, model=bands().fingerprint)

    found = evaluate(people, bands(), protocol="cross-session", cohort=cohort, rounds=50)

    first = found.scores[0]
    assert first.far_enrolled is not None
    assert first.frr_enrolled is not None
    assert 0.0 <= first.far_enrolled.low <= first.far_enrolled.high <= 1.0
    assert NO_COHORT not in summarize(found, card=bands().card)["notes"]  # type: ignore[operator]


@pytest.mark.parametrize("name", ["paper", "as-norm"])
def test_people_are_tried_in_the_unit_of_the_rule(
    people: Sequence[Participant], bands: Make, name: str
) -> None:
    rows = np.random.default_rng(0).normal(size=(300, 36))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cohort = Cohort(embeddings=rows, model=bands().fingerprint)
    rule = RULES[name]

    found = evaluate(people, bands(), protocol="cross-session", cohort=cohort, rule=rule, rounds=50)

    gallery = embed_all(people, bands())
    planned = plan_cross_session(gallery)
    templates = [
        enroll(gallery.embeddings[enrolled], cohort=cohort, now=NOW, rule=rule)
        for enrolled in planned.enrolled
    ]
    own, others = [], []
    for number, template in enumerate(templates):
        for wearer, row in zip(gallery.wearers, gallery.embeddings, strict=True):
            verdict = verify(template, row, cohort=cohort)
            margin = verdict.distance - verdict.threshold
            if wearer != number:
                others.append(margin)
            elif not planned.enrolled[number][np.all(gallery.embeddings == row, axis=1)].any():
                own.append(margin)
    first = found.scores[0]
    assert found.rule == name
    assert first.equal_error_enrolled is not None
    assert first.equal_error_enrolled.value == pytest.approx(equal_error(own, others).rate)
    assert first.far_enrolled is not None
    assert first.far_enrolled.value == pytest.approx(float(far(others, 0.0)))
    assert first.frr_enrolled is not None
    assert first.frr_enrolled.value == pytest.approx(float(frr(own, 0.0)))


def test_a_cohort_made_from_the_people_under_test_is_refused(
    people: Sequence[Participant], bands: Make
) -> None:
    model = bands().fingerprint
    hashed = (hash_stranger(people[0].name, model=model),)
    cohort = Cohort(embeddings=np.eye(36), model=model, people=hashed)

    with pytest.raises(ModelError, match="made from some of these people"):
        evaluate(people, bands(), protocol="cross-session", cohort=cohort)


def test_a_cohort_of_another_model_is_refused(people: Sequence[Participant], bands: Make) -> None:
    cohort = Cohort(embeddings=np.eye(36), model="another")

    with pytest.raises(ModelError, match="cohort was made by another model"):
        evaluate(people, bands(), protocol="cross-session", cohort=cohort)


def test_people_from_training_are_refused(people: Sequence[Participant], bands: Make) -> None:
    embedder = bands(learned_from=("simulated/simulated-0-003",))

    with pytest.raises(ModelError, match=r"1 of these people \(simulated/simulated-0-003 is one"):
        evaluate(people, embedder, protocol="cross-session")


def test_one_person_is_too_few(people: Sequence[Participant], bands: Make) -> None:
    with pytest.raises(TooFewError, match="there are 1 people; this needs at least 2"):
        evaluate(people[:1], bands(), protocol="cross-session")


def test_a_program_reads_numbers_and_a_person_reads_percent(
    crossed: Evaluation, bands: Make
) -> None:
    card = bands().card

    facts = json.loads(json.dumps(describe(crossed, card=card, notes=["said"]), allow_nan=False))
    words = summarize(crossed, card=card, notes=["said"])

    first = facts["scores"][0]
    assert first["equal_error"]["low"] <= first["equal_error"]["value"]
    assert first["far_at_enrolled_threshold"] is None
    assert facts["notes"] == words["notes"] == ["said", NO_COHORT]
    percent = f"{100 * crossed.scores[0].equal_error.value:.1f} % ("
    assert str(words["pooled_equal_error"]).startswith(f"['{percent}")


def test_the_curves_are_drawn(crossed: Evaluation, tmp_path: Path) -> None:
    picture = tmp_path / "det.png"

    draw_det(crossed.named_curves, picture, title="people who do not exist")

    assert list(crossed.named_curves) == ["1 window", "mean of 5", "mean of 15"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_real_people_are_told_apart_across_days(data_folder: Path, bands: Make) -> None:
    archive = data_folder / "mscardio-dev.zip"
    found = gather("mscardio", archive, card=bands().card, fewest_recordings=2, most_people=3)

    crossed = evaluate(found.participants, bands(), protocol="cross-session", rounds=50)

    assert found.participants[0].name == "mscardio/Subject_0001"
    assert "not of the ear" in found.notes[0]
    assert crossed.scores[0].mean_equal_error.value < 0.5
    assert {one.part.kind for one in crossed.scores[0].parts} >= {"device", "age"}
