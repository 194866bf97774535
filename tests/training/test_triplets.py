"""The triplets and their loss against plain loops."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ConfigError
from acclock.training.losses import (
    TripletConfig,
    Triplets,
    find_violating,
    mean_separation,
    triplet_loss,
)
from acclock.values import FloatArray

SEEDS = st.integers(0, 2**32 - 1)


def naive_distance(one: FloatArray, other: FloatArray) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    return 1.0 - dot / lengths


def naive_gap(embeddings: FloatArray, triplet: tuple[int, int, int]) -> float:
    anchor, positive, negative = (embeddings[row] for row in triplet)
    return naive_distance(anchor, positive) - naive_distance(anchor, negative)


def naive_violating(
    embeddings: FloatArray, people: list[int], margin: float
) -> set[tuple[int, int, int]]:
    rows = range(len(people))
    return {
        (a, p, n)
        for a, p, n in itertools.product(rows, rows, rows)
        if a != p and people[a] == people[p] and people[a] != people[n]
        if naive_gap(embeddings, (a, p, n)) > -margin
    }


def draw_batch(seed: int, count: int) -> tuple[FloatArray, list[int]]:
    draw = np.random.default_rng(seed)
    return draw.normal(0, 1, (count, 4)), draw.integers(0, 3, count).tolist()


def rows_of(triplets: Triplets) -> list[tuple[int, int, int]]:
    sides = (triplets.anchors, triplets.positives, triplets.negatives)
    return list(zip(*(side.tolist() for side in sides), strict=True))


@pytest.mark.paper("Sec. 6.2")
@given(seed=SEEDS, count=st.integers(2, 10), margin=st.floats(0.05, 1.5))
def test_the_miner_finds_what_a_plain_loop_finds(seed: int, count: int, margin: float) -> None:
    embeddings, people = draw_batch(seed, count)

    found = find_violating(torch.tensor(embeddings), torch.tensor(people), margin=margin)

    assert len(rows_of(found)) == len(found)
    assert set(rows_of(found)) == naive_violating(embeddings, people, margin)


@pytest.mark.paper("Sec. 6.2")
def test_a_triplet_that_keeps_the_margin_exactly_is_left_out() -> None:
    embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    people = torch.tensor([0, 0, 1])

    at_margin = find_violating(embeddings, people, margin=1.0)
    within = find_violating(embeddings, people, margin=1.01)

    assert rows_of(at_margin) == []
    assert sorted(rows_of(within)) == [(0, 1, 2), (1, 0, 2)]


@pytest.mark.paper("Eq. 14")
@given(seed=SEEDS, count=st.integers(3, 10), margin=st.floats(0.05, 1.5))
def test_the_loss_equals_a_plain_loop(seed: int, count: int, margin: float) -> None:
    embeddings, people = draw_batch(seed, count)
    triplets = find_violating(torch.tensor(embeddings), torch.tensor(people), margin=margin)

    loss = triplet_loss(torch.tensor(embeddings), triplets, margin=margin).item()

    lacking = [
        max(naive_gap(embeddings, triplet) + margin, 0.0)
        for triplet in naive_violating(embeddings, people, margin)
    ]
    assert loss == pytest.approx(sum(lacking) / max(len(lacking), 1), abs=1e-9)


@pytest.mark.paper("Eq. 14")
def test_a_triplet_beyond_the_margin_costs_nothing() -> None:
    embeddings = torch.tensor([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    one = torch.tensor([0]), torch.tensor([1]), torch.tensor([2])

    loss = triplet_loss(embeddings, Triplets(*one), margin=0.5)

    assert loss == 0


@pytest.mark.paper("Eq. 12")
@pytest.mark.paper("Eq. 13")
@given(seed=SEEDS)
def test_the_aim_is_the_mean_gap(seed: int) -> None:
    embeddings, _ = draw_batch(seed, 6)
    rows = [(0, 1, 2), (3, 4, 5), (0, 5, 3)]
    triplets = Triplets(*torch.tensor(rows).T)

    aim = mean_separation(torch.tensor(embeddings), triplets).item()

    assert aim == pytest.approx(sum(naive_gap(embeddings, row) for row in rows) / 3, abs=1e-9)


@pytest.mark.parametrize("people", [[0, 0, 0], [0, 1, 2], [0]])
def test_without_triplets_the_loss_is_zero_and_can_still_be_descended(people: list[int]) -> None:
    embeddings = torch.ones(len(people), 4, requires_grad=True)
    triplets = find_violating(embeddings, torch.tensor(people), margin=0.2)

    loss = triplet_loss(embeddings, triplets, margin=0.2)
    loss.backward()

    assert len(triplets) == 0
    assert loss == 0
    torch.testing.assert_close(embeddings.grad, torch.zeros_like(embeddings))


def test_descending_brings_a_person_together_and_people_apart() -> None:
    dice = torch.Generator().manual_seed(4)
    embeddings = torch.randn(12, 4, generator=dice).requires_grad_()
    people = torch.arange(12) % 3
    optimizer = torch.optim.Adam([embeddings], lr=0.05)
    triplets = find_violating(embeddings, people, margin=0.5)
    before = mean_separation(embeddings, triplets).item()

    for _ in range(100):
        loss = triplet_loss(embeddings, find_violating(embeddings, people, margin=0.5), margin=0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    assert len(find_violating(embeddings, people, margin=0.5)) == 0
    assert mean_separation(embeddings, triplets).item() < before - 0.5


@pytest.mark.parametrize("margin", [0.0, 2.0, math.nan])
def test_a_margin_that_no_distance_can_keep_is_refused(margin: float) -> None:
    with pytest.raises(ConfigError, match="and so does a margin"):
        TripletConfig(margin=margin)
