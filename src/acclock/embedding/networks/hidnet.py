"""HIDNet: identity and nuisance, told apart."""

import torch
from torch import Tensor, nn

from acclock.embedding.networks.axes import AxisAttention
from acclock.embedding.networks.config import HIDNetConfig, WindowShape
from acclock.embedding.networks.encoder import SharedEncoder
from acclock.embedding.networks.outputs import Outputs
from acclock.embedding.networks.reversal import reverse_gradient
from acclock.embedding.networks.tcn import TemporalConvolutions


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
