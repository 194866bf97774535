"""The gradient that turns, against one made by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from acclock.embedding.networks.hidnet import ramp, reverse_gradient


@pytest.mark.paper("Eq. 5")
@pytest.mark.paper("Eq. 6")
def test_a_reversed_gradient_is_the_gradient_turned_and_scaled() -> None:
    features = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)

    given_back = reverse_gradient(features, strength=0.3)
    (given_back**2).sum().backward()

    assert torch.equal(given_back, features)
    # The square has the gradient 2x, by hand: 2, -4, 1, 6; times -0.3.
    torch.testing.assert_close(features.grad, torch.tensor([[-0.6, 1.2], [-0.3, -1.8]]))


@pytest.mark.paper("Eq. 6")
def test_what_comes_after_the_reversal_learns_forwards() -> None:
    features = torch.tensor([[1.0, 2.0]], requires_grad=True)
    weight = torch.tensor([[3.0], [4.0]], requires_grad=True)

    (reverse_gradient(features, strength=1.0) @ weight).sum().backward()

    torch.testing.assert_close(weight.grad, torch.tensor([[1.0], [2.0]]))
    torch.testing.assert_close(features.grad, torch.tensor([[-3.0, -4.0]]))


@given(early=st.floats(0, 1), late=st.floats(0, 1), peak=st.floats(0.01, 10))
def test_the_reversal_grows_from_nothing_to_its_peak(
    early: float, late: float, peak: float
) -> None:
    early, late = sorted((early, late))

    assert 0 <= ramp(early, peak=peak) <= ramp(late, peak=peak) <= peak
    assert ramp(0.0, peak=peak) == 0
    assert ramp(1.0, peak=peak) == pytest.approx(peak, rel=1e-3)
