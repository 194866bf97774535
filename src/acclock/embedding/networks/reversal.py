"""Gradient reversal: forwards nothing happens, backwards the student turns against the teacher."""

import math
from typing import Any

import torch
from torch import Tensor


class GradientReversal(torch.autograd.Function):
    r"""What stands behind :func:`reverse_gradient`: backwards, the gradient is turned and scaled.

    .. math:: \partial\mathcal{R}_\lambda(\mathbf{H}) / \partial\mathbf{H} = -\lambda\mathbf{I}

    Paper: Sec. 5.4, Eq. (6), where ``strength`` is λ.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, strength: float) -> Tensor:  # noqa: ANN401
        ctx.strength = strength
        return features.view_as(features)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        return -ctx.strength * gradients[0], None


def reverse_gradient(features: Tensor, *, strength: float) -> Tensor:
    r"""Give the features unchanged; their gradient comes back with the sign turned.

    .. math:: \mathcal{R}_\lambda(\mathbf{H}) = \mathbf{H}

    Paper: Sec. 5.4, Eq. (5), where ``features`` is H_NID.
    """
    return GradientReversal.apply(features, strength)


def ramp(progress: float, *, peak: float = 1.0) -> float:
    """Give the strength of the reversal after a share of the training, from 0 up to the peak.

    Ours (docs/decisions/0011): with full strength from the first step the adversary pulls on
    features that mean nothing yet, and training comes apart.

    >>> [round(ramp(progress), 2) for progress in (0.0, 0.1, 0.5, 1.0)]
    [0.0, 0.46, 0.99, 1.0]
    """
    return peak * math.tanh(5.0 * progress)
