"""The head in closed form: what it keeps, what it fades, and that it is found right."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from acclock.errors import ConfigError
from acclock.training.whitening import Labels, Numbers, Whitening, WhiteningConfig, fit_whitening
from acclock.values import FloatArray

WIDTH = 6


def draw(
    *, people: int = 12, sessions: int = 2, windows: int = 30, sources: int = 1, seed: int = 0
) -> tuple[FloatArray, Labels]:
    """Give features of people: six numbers, the first two of which shake a hundredfold."""
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), sessions * windows)
    session = np.repeat(np.arange(people * sessions), windows)
    own = chance.normal(size=(people, WIDTH))[who]
    day = 0.1 * chance.normal(size=(people * sessions, WIDTH))[session]
    shaking = chance.normal(size=(who.size, WIDTH)) * np.array([10.0, 10.0, 0.1, 0.1, 0.1, 0.1])
    device = 50.0 * np.array([0, 0, 0, 0, 0, 1.0]) * (who % sources)[:, np.newaxis]
    labels = Labels(people=who, sessions=session, sources=who % sources)
    return own + day + shaking + device, labels


def embed(features: FloatArray, head: Whitening) -> FloatArray:
    rows = features @ head.weight.T + head.bias
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def separate(embeddings: FloatArray, people: Numbers) -> float:
    """Give how much farther other people's windows lie than one's own, on average."""
    distances = np.linalg.norm(embeddings[:, np.newaxis] - embeddings, axis=2)
    same = people[:, np.newaxis] == people
    return float(distances[~same].mean() - distances[same].mean())


def test_what_shakes_within_people_counts_less() -> None:
    features, labels = draw()
    trusting = WhiteningConfig(shrinkage=0.01)

    head = fit_whitening(features, labels, width=WIDTH, config=trusting)

    plain = features - features.mean(axis=0)
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    assert separate(embed(features, head), labels.people) > separate(plain, labels.people) + 0.3


def test_without_shrinkage_people_vary_alike_in_every_direction() -> None:
    features, labels = draw(sessions=1)
    config = WhiteningConfig(shrinkage=1e-9, days=0.0, sources=0.0)

    head = fit_whitening(features, labels, width=WIDTH, config=config)

    rows = features @ head.weight.T + head.bias
    centers = np.stack([rows[labels.people == who].mean(axis=0) for who in range(12)])
    within = np.cov((rows - centers[labels.people]).T, bias=True)
    np.testing.assert_allclose(within, np.eye(WIDTH), atol=1e-6)


def test_the_difference_between_devices_is_nobodys_own() -> None:
    features, labels = draw(sources=2)
    ignoring, minding = (
        fit_whitening(
            features, labels, width=WIDTH, config=WhiteningConfig(shrinkage=0.1, sources=weight)
        )
        for weight in (0.0, 10.0)
    )

    def set_apart(head: Whitening) -> float:
        rows = embed(features, head)
        halves = [rows[labels.sources == source].mean(axis=0) for source in (0, 1)]
        return float(np.linalg.norm(halves[0] - halves[1]))

    assert set_apart(minding) < 0.5 * set_apart(ignoring)


def test_a_feature_that_never_changes_counts_for_nothing() -> None:
    features, labels = draw()
    features[:, 3] = 1.0 + 1e-9 * np.random.default_rng(0).normal(size=len(features))

    head = fit_whitening(features, labels, width=WIDTH, config=WhiteningConfig())

    assert (head.weight[:, 3] == 0.0).all()


def test_keeping_what_people_differ_in_is_a_discriminant_analysis() -> None:
    features, labels = draw(sessions=1)
    config = WhiteningConfig(shrinkage=1e-9, days=0.0, sources=0.0, kept="people")

    head = fit_whitening(features, labels, width=2, config=config)

    oracle = LinearDiscriminantAnalysis(n_components=2).fit(features, labels.people)
    ours, theirs = features @ head.weight.T + head.bias, oracle.transform(features)
    for column in range(2):
        assert abs(np.corrcoef(ours[:, column], theirs[:, column])[0, 1]) > 0.999


@given(scale=st.floats(0.01, 100.0), shift=st.floats(-5.0, 5.0))
def test_the_units_of_a_feature_do_not_matter(scale: float, shift: float) -> None:
    features, labels = draw(people=5, windows=8)
    factors = np.array([scale, 1.0, 1.0, 1.0, 1.0, 1.0])

    first = embed(features, fit_whitening(features, labels, width=WIDTH, config=WhiteningConfig()))
    changed = features * factors + shift
    second = embed(changed, fit_whitening(changed, labels, width=WIDTH, config=WhiteningConfig()))

    np.testing.assert_allclose(first @ first.T, second @ second.T, atol=1e-6)


@pytest.mark.parametrize(
    "told", [{"shrinkage": 0.0}, {"shrinkage": 1.5}, {"days": -1.0}, {"kept": "everything"}]
)
def test_a_config_that_cannot_be_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        WhiteningConfig(**told)
