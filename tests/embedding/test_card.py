"""What a card lets pass and what it refuses."""

import json
from dataclasses import replace

import pytest

from acclock.embedding.card import Card, hash_person
from acclock.errors import ModelError


def test_a_card_survives_being_written(card: Card) -> None:
    told = replace(card, people=(hash_person("a"), hash_person("b")), precision="int8")

    assert Card.from_json(told.to_json()) == told


def test_equal_cards_are_written_alike(card: Card) -> None:
    other = replace(card, config=dict(reversed(list({"width": 4, "depth": 2}.items()))))
    same = replace(card, config={"width": 4, "depth": 2})

    assert other.to_json() == same.to_json()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 2}, "the model has format 2; this reads 1"),
        ({"format": 2, "rate_hz": None}, "the model has format 2; this reads 1"),
        ({"rate_hz": 0}, "not all positive"),
        ({"axes": -1}, "not all positive"),
        ({"rate_hz": "fast"}, "cannot be read"),
        ({"people": 3}, "cannot be read"),
        ({"precision": "int4"}, "unknown precision, 'int4'"),
    ],
)
def test_a_card_that_says(changes: dict[str, object], reason: str, card: Card) -> None:
    told = json.loads(card.to_json()) | changes

    with pytest.raises(ModelError, match=reason):
        Card.from_json(json.dumps(told))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"format": 1}'])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="the model's card cannot be read"):
        Card.from_json(text)


def test_windows_of_another_rate_are_refused(card: Card) -> None:
    card.require(rate_hz=50.0)

    with pytest.raises(ModelError, match="made for 50 Hz; these windows are at 100 Hz"):
        card.require(rate_hz=100.0)


@pytest.mark.parametrize("sampled_hz", [36.5, 50.0, 398.0])
def test_a_sensor_that_samples_often_enough_is_taken(card: Card, sampled_hz: float) -> None:
    card.require_sampled(sampled_hz)


@pytest.mark.parametrize("sampled_hz", [25.0, 34.0])
def test_a_sensor_that_samples_too_rarely_is_refused(card: Card, sampled_hz: float) -> None:
    with pytest.raises(ModelError, match=f"made for 50 Hz; .* taken at {sampled_hz:g} Hz"):
        card.require_sampled(sampled_hz)


def test_windows_of_another_preparation_are_refused(card: Card) -> None:
    card.require(rate_hz=50.0, preparation="bandpass")

    with pytest.raises(ModelError, match="prepared by 'bandpass'; these come from 'paper'"):
        card.require(rate_hz=50.0, preparation="paper")


def test_whom_a_model_learned_from_is_recognized_and_not_told(card: Card) -> None:
    told = replace(card, people=(hash_person("mscardio/Subject_0001"),))

    assert told.learned_from("mscardio/Subject_0001")
    assert not told.learned_from("mscardio/Subject_0002")
    assert "Subject" not in told.to_json()
