"""HIDNet: a shared encoder, two branches that separate identity from nuisance, and a decoder."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.config import EncoderConfig, HIDNetConfig, TcnConfig, WindowShape
from acclock.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """Everything that the losses ask about a batch; a plain network has only the first two."""

    identity: Tensor
    """Identity features, H_ID: ``(batch, feature)``."""
    identity_logits: Tensor
    """Which person the identity features point to: ``(batch, person)``."""
    nuisance: Tensor | None = None
    """Nuisance features, H_NID: ``(batch, feature)``."""
    nuisance_logits: Tensor | None = None
    """Which person the adversary reads out of the nuisance features: ``(batch, person)``."""
    reconstruction: Tensor | None = None
    """The windows, rebuilt from both: ``(batch, axis, sample)``."""


def cut_patches(windows: Tensor, patch_length: int) -> Tensor:
    """Cut each axis into patches that do not overlap: ``(batch, axis, patch, sample)``.

    Paper: Sec. 5.2. What is left at the end, shorter than a patch, is dropped.
    """
    batch, axes, length = windows.shape
    count = length // patch_length
    return windows[..., : count * patch_length].reshape(batch, axes, count, patch_length)


class AxisAttention(nn.Module):
    """Windows of several axes in, the same windows out with each axis weighted.

    Paper: Sec. 7.4.4, the extension to three axes. Every axis is summed up in one token, the
    tokens look at each other through multi-head attention, and each becomes a weight. The
    weights of a window are positive and their mean is one, so that its level is kept.

    Ours: the paper says no more than that attention weighs the axes. The summary passes
    through a non-linearity, because the mean of a linear map of an oscillation is nothing.
    """

    def __init__(self, *, axes: int, patch_length: int, width: int, heads: int) -> None:
        super().__init__()
        self.axes = axes
        self.patch_length = patch_length
        self.embed = nn.Linear(patch_length, width)
        self.which = nn.Embedding(axes, width)
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.score = nn.Linear(width, 1, bias=False)  # a bias would cancel in the softmax

    def forward(self, windows: Tensor) -> Tensor:
        return windows * self.weigh(windows).unsqueeze(-1)

    def weigh(self, windows: Tensor) -> Tensor:
        """Give the weight of every axis: ``(batch, axis)``."""
        patches = cut_patches(windows, self.patch_length)
        tokens = functional.gelu(self.embed(patches)).mean(dim=2) + self.which.weight
        mixed, _ = self.attend(tokens, tokens, tokens, need_weights=False)
        scores = self.score(functional.gelu(tokens + mixed)).squeeze(-1)
        return scores.softmax(dim=1) * self.axes


class SharedEncoder(nn.Module):
    """Denoised windows in, two half-embeddings out: identity and nuisance.

    Paper: Sec. 5.2, Eq. (3), where the halves are e_ID and e_NID. Patches stand for tokens,
    self-attention lets them look at each other, their mean is projected and split. Nothing here
    makes the halves differ in meaning; the losses do (:mod:`acclock.training.losses`).

    Of several axes, a patch holds the samples of all.
    """

    def __init__(self, config: EncoderConfig, shape: WindowShape) -> None:
        super().__init__()
        self.patch_length = config.measure_patch(shape.rate_hz)
        if shape.length < self.patch_length:
            raise ConfigError(
                f"a window of {shape.length} samples has no patch of {self.patch_length}"
            )
        self.embed = nn.Linear(shape.axes * self.patch_length, config.model_width)
        self.attend = nn.MultiheadAttention(config.model_width, config.heads, batch_first=True)
        self.project = nn.Linear(config.model_width, config.embedding_width)

    def forward(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        patches = cut_patches(windows, self.patch_length).transpose(1, 2)
        tokens = self.embed(patches.flatten(2))  # (batch, patch, model)
        mixed, _ = self.attend(tokens, tokens, tokens, need_weights=False)
        embedding = self.project(mixed.mean(dim=1))  # (batch, embedding)
        identity, nuisance = embedding.chunk(2, dim=1)
        return identity, nuisance


class TemporalConvolutions(nn.Module):
    """Half-embeddings in, features of known length out: ``(batch, channel)``.

    Paper: Secs. 5.3 and 5.4, the TCN of either branch. Ours (docs/decisions/0011): the vector is
    read as a sequence with one coordinate per step, without padding, so that the few steps that
    are left at the end have each seen nearly all coordinates; their mean is the feature. It is
    scaled to a mean square of one: unbounded, the adversary's loss runs away.
    """

    def __init__(self, config: TcnConfig) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for level in range(config.levels):
            inputs = config.channels if level else 1
            block = DilatedBlock(inputs, config.channels, config.kernel, dilation=2**level)
            layers += [block, nn.ReLU()]
        # No rectifier after the last block: features of one sign would all lie close together.
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, halves: Tensor) -> Tensor:
        steps = self.layers(halves.unsqueeze(1))  # (batch, channel, step)
        return bound(steps.mean(dim=2))


class DilatedBlock(nn.Module):
    """Two dilated convolutions and a way around them."""

    def __init__(self, inputs: int, channels: int, kernel: int, *, dilation: int) -> None:
        super().__init__()
        # A bias before a batch normalization is subtracted again and would never learn.
        self.first = nn.Conv1d(inputs, channels, kernel, dilation=dilation, bias=False)
        self.steady_first = nn.BatchNorm1d(channels)
        self.second = nn.Conv1d(channels, channels, kernel, dilation=dilation, bias=False)
        self.steady_second = nn.BatchNorm1d(channels)
        self.widen = nn.Identity() if inputs == channels else nn.Conv1d(inputs, channels, 1)

    def forward(self, steps: Tensor) -> Tensor:
        news = functional.relu(self.steady_first(self.first(steps)))
        news = self.steady_second(self.second(news))
        around = self.widen(steps[..., -news.shape[-1] :])
        return around + news


def bound(features: Tensor) -> Tensor:
    """Scale every feature vector to a mean square of one; a zero vector stays zero."""
    return functional.normalize(features, dim=1) * features.shape[1] ** 0.5


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


class HIDNet(nn.Module):
    """Denoised windows in, identity features out; in training, all that the losses ask for.

    Paper: Sec. 5.1. One encoder serves two branches. The identity branch learns to name the
    person; the nuisance branch learns to be of no use for that; a decoder sees to it that the
    two together still hold the whole window.
    """

    def __init__(
        self, config: HIDNetConfig, *, shape: WindowShape, people: int, reconstructs: bool
    ) -> None:
        super().__init__()
        width = config.branch.channels
        self.feature_width = width
        self.weigh_axes = _make_axis_attention(config, shape)
        self.encode = SharedEncoder(config.encoder, shape)
        self.read_identity = TemporalConvolutions(config.branch)
        self.read_nuisance = TemporalConvolutions(config.branch)
        self.name_person = nn.Linear(width, people)
        self.betray_person = nn.Linear(width, people)
        self.decode = Decoder(2 * width, config.decoder_width, shape) if reconstructs else None

    def forward(self, windows: Tensor) -> Tensor:
        identity, _ = self.encode(self.weigh_axes(windows))
        return self.read_identity(identity)

    def outputs(self, windows: Tensor, *, reversal: float) -> Outputs:
        """Give everything that the losses ask for, the gradient reversed with this strength."""
        identity_half, nuisance_half = self.encode(self.weigh_axes(windows))
        identity = self.read_identity(identity_half)
        nuisance = self.read_nuisance(nuisance_half)
        accused = reverse_gradient(nuisance, strength=reversal)
        return Outputs(
            identity=identity,
            identity_logits=self.name_person(identity),
            nuisance=nuisance,
            nuisance_logits=self.betray_person(accused),
            reconstruction=None if self.decode is None else self.decode(identity, nuisance),
        )


class Decoder(nn.Module):
    """Identity and nuisance features in, the window that they came from out.

    Paper: Sec. 5.6, the decoder of the integrity commitment.
    """

    def __init__(self, inputs: int, width: int, shape: WindowShape) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, shape.axes * shape.length),
            nn.Unflatten(1, (shape.axes, shape.length)),
        )

    def forward(self, identity: Tensor, nuisance: Tensor) -> Tensor:
        return self.layers(torch.cat([identity, nuisance], dim=1))


def _make_axis_attention(config: HIDNetConfig, shape: WindowShape) -> nn.Module:
    if shape.axes == 1:
        return nn.Identity()
    return AxisAttention(
        axes=shape.axes,
        patch_length=config.encoder.measure_patch(shape.rate_hz),
        width=config.axis_width,
        heads=config.encoder.heads,
    )
