"""Each term of HIDNet's loss against the formula in a plain loop, and the gradient that turns."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from acclock.embedding.networks.hidnet import Outputs
from acclock.embedding.networks.registry import find_design
from acclock.errors import ConfigError
from acclock.training.losses import (
    LossConfig,
    adversarial_loss,
    drop_ablated,
    identity_loss,
    integrity_loss,
    orthogonality_loss,
    total_loss,
)
from acclock.values import FloatArray

SEEDS = st.integers(0, 2**32 - 1)
LOSSES = (identity_loss, adversarial_loss)


def naive_cross_entropy(logits: FloatArray, people: list[int]) -> float:
    losses = []
    for row, person in zip(logits, people, strict=True):
        odds = [math.exp(value) for value in row]
        losses.append(-math.log(odds[person] / sum(odds)))
    return sum(losses) / len(losses)


def naive_orthogonality(identity: FloatArray, nuisance: FloatArray, strength: float) -> float:
    terms = []
    for one, other in zip(identity, nuisance, strict=True):
        dot = sum(a * b for a, b in zip(one, other, strict=True))
        lengths = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
        terms.append(strength * (dot / lengths) ** 2)
    return sum(terms) / len(terms)


def naive_integrity(windows: FloatArray, rebuilt: FloatArray) -> float:
    errors = [(a - b) ** 2 for a, b in zip(windows.ravel(), rebuilt.ravel(), strict=True)]
    return sum(errors) / len(errors)


@pytest.mark.paper("Eq. 4")
@pytest.mark.paper("Eq. 7")
@given(seed=SEEDS, count=st.integers(1, 6), people=st.integers(2, 7))
def test_cross_entropies_equal_a_plain_loop(seed: int, count: int, people: int) -> None:
    draw = np.random.default_rng(seed)
    logits, labels = draw.normal(0, 3, (count, people)), draw.integers(0, people, count)

    losses = [loss(torch.tensor(logits), torch.tensor(labels)).item() for loss in LOSSES]

    assert losses == pytest.approx([naive_cross_entropy(logits, labels.tolist())] * 2)


@pytest.mark.paper("Eq. 8")
@given(seed=SEEDS, width=st.integers(1, 9), strength=st.floats(0.1, 3.0))
def test_orthogonality_equals_a_plain_loop(seed: int, width: int, strength: float) -> None:
    identity, nuisance = np.random.default_rng(seed).normal(0, 2, (2, 4, width))

    loss = orthogonality_loss(
        torch.tensor(identity), torch.tensor(nuisance), strength=strength
    ).item()

    assert loss == pytest.approx(naive_orthogonality(identity, nuisance, strength))


@pytest.mark.paper("Eq. 8")
@pytest.mark.parametrize(
    ("identity", "nuisance", "loss"),
    [
        ([1.0, 0.0], [0.0, 5.0], 0.0),
        ([1.0, 0.0], [3.0, 0.0], 1.0),
        ([1.0, 0.0], [-3.0, 0.0], 1.0),
        ([1.0, 1.0], [0.0, 2.0], 0.5),
        ([0.0, 0.0], [0.0, 2.0], 0.0),
    ],
)
def test_orthogonality_of(identity: list[float], nuisance: list[float], loss: float) -> None:
    found = orthogonality_loss(torch.tensor([identity]), torch.tensor([nuisance]), strength=1.0)

    assert found.item() == pytest.approx(loss, abs=1e-6)


@pytest.mark.paper("Eq. 9")
@given(seed=SEEDS)
def test_integrity_equals_a_plain_loop(seed: int) -> None:
    windows, rebuilt = np.random.default_rng(seed).normal(0, 1, (2, 3, 1, 8))

    loss = integrity_loss(torch.tensor(windows), torch.tensor(rebuilt)).item()

    assert loss == pytest.approx(naive_integrity(windows, rebuilt))


def draw_outputs(seed: int) -> tuple[Outputs, torch.Tensor, torch.Tensor]:
    dice = torch.Generator().manual_seed(seed)
    windows, rebuilt = torch.randn(2, 4, 3, 10, generator=dice)
    identity, nuisance = torch.randn(2, 4, 6, generator=dice)
    named, betrayed = torch.randn(2, 4, 5, generator=dice)
    outputs = Outputs(
        identity=identity,
        identity_logits=named,
        nuisance=nuisance,
        nuisance_logits=betrayed,
        reconstruction=rebuilt,
    )
    return outputs, windows, torch.tensor([0, 1, 2, 4])


@pytest.mark.paper("Eq. 10")
@given(seed=SEEDS, weights=st.tuples(*[st.floats(0.0, 2.0)] * 4))
def test_total_is_the_weighted_sum(seed: int, weights: tuple[float, float, float, float]) -> None:
    outputs, windows, people = draw_outputs(seed)
    adversarial, integrity, orthogonality, strength = weights
    config = LossConfig(
        adversarial=adversarial,
        integrity=integrity,
        orthogonality=orthogonality,
        orthogonality_strength=strength,
    )

    losses = total_loss(outputs, windows=windows, people=people, config=config)

    assert outputs.nuisance_logits is not None
    assert outputs.nuisance is not None
    assert outputs.reconstruction is not None
    labels = people.tolist()
    expected = (
        naive_cross_entropy(outputs.identity_logits.double().numpy(), labels)
        + adversarial * naive_cross_entropy(outputs.nuisance_logits.double().numpy(), labels)
        + integrity
        * naive_integrity(windows.double().numpy(), outputs.reconstruction.double().numpy())
        + orthogonality
        * naive_orthogonality(
            outputs.identity.double().numpy(), outputs.nuisance.double().numpy(), strength
        )
    )
    assert losses.total.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.paper("Eq. 10")
def test_a_plain_network_is_judged_by_the_names_alone() -> None:
    outputs, windows, people = draw_outputs(3)
    plain = Outputs(identity=outputs.identity, identity_logits=outputs.identity_logits)

    losses = total_loss(plain, windows=windows, people=people, config=LossConfig())

    assert losses.total == losses.identity > 0
    assert losses.adversarial == losses.integrity == losses.orthogonality == 0


@pytest.mark.paper("Sec. 7.3")
@pytest.mark.parametrize(
    ("name", "orthogonality", "integrity"),
    [
        ("hidnet", 0.1, 0.5),
        ("v1", 0.0, 0.5),
        ("v2", 0.1, 0.0),
        ("v3", 0.0, 0.0),
        ("v5", 0.1, 0.5),
    ],
)
def test_weights_of_an_ablation(name: str, orthogonality: float, integrity: float) -> None:
    config = drop_ablated(LossConfig(), find_design(name))

    assert (config.orthogonality, config.integrity) == (orthogonality, integrity)


@pytest.mark.parametrize("weight", [-0.1, math.nan])
def test_a_weight_below_zero_is_refused(weight: float) -> None:
    with pytest.raises(ConfigError, match="integrity weighs a loss"):
        LossConfig(integrity=weight)
