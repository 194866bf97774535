"""Stage 2 as part of a network: what becomes of windows in which something happened."""

import torch
from torch import Tensor, nn

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.liveliness import THIN
from acclock.denoising.uncompiled_kernels import CALM_TO_USUAL
from acclock.training.raw.order import measure_local_power
from acclock.training.raw.wavelets import Levels, Wavelets

_NOTHING = 1e-300


class Attenuation(nn.Module):
    """Levels turned down where they are livelier than the wearer's heart makes them.

    Ours (docs/decisions/0023): as :func:`acclock.denoising.recovery.attenuate` does. What is
    remembered of a periodic window is the mean square of each level.
    """

    def __init__(self, config: DenoiseConfig, wavelets: Wavelets) -> None:
        super().__init__()
        self.width = len(config.kept_levels)
        self.window = config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.headroom = config.headroom
        self.join = wavelets.join

    def forward(self, levels: Levels, cleaned: Tensor, references: Tensor) -> Tensor:  # noqa: ARG002
        local = measure_local_power(levels.coefficients, self.around).clamp_min(_NOTHING)
        ordered, _ = local[..., ::THIN].sort(dim=-1)
        calm = ordered[..., (ordered.shape[-1] - 1) // 4]
        usual = torch.where(references > 0, references, CALM_TO_USUAL * calm).unsqueeze(-1)
        gains = (self.headroom * usual / local).clamp_max(1.0)
        calmer = Levels(levels.coefficients * gains, levels.thresholds)
        return self.join(calmer)[:, -self.window :]

    def remember(self, levels: Levels, windows: Tensor) -> Tensor:  # noqa: ARG002
        """Give what is to be known of these rows should something happen next."""
        return levels.coefficients[..., -self.window :].square().mean(dim=-1)
