"""Every preparation of the pipeline as part of a network."""

import torch
from torch import Tensor, nn

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import STRONGEST_BEAT
from acclock.pipeline import BAND_HZ, Preparation
from acclock.training.raw.bandpass import BandPass
from acclock.training.raw.imitation import Imitation
from acclock.training.raw.order import measure_local_power, quarter
from acclock.training.raw.recovery import Attenuation
from acclock.training.raw.rhythm import Rhythm
from acclock.training.raw.wavelets import Levels, Wavelets


class Filtered(nn.Module):
    """Contexts in, the windows at their ends out, band-passed. Nothing is remembered."""

    def __init__(self, preparation: Preparation) -> None:
        super().__init__()
        config = preparation.config
        self.window, self.width = config.window_length, 0
        self.bandpass = BandPass(config.context_length, config.rate_hz, BAND_HZ).float()

    def forward(self, contexts: Tensor, references: None = None) -> tuple[Tensor, None]:
        return self.bandpass(contexts)[..., -self.window :], references


class Denoised(nn.Module):
    """Contexts in, the windows at their ends out, denoised by both stages.

    Ours (docs/decisions/0023): what :func:`acclock.denoising.stages.denoise` gives.
    ``references`` are what the contexts before left behind, zero where nothing did.
    """

    def __init__(self, preparation: Preparation) -> None:
        super().__init__()
        config = preparation.config
        self.window = config.window_length
        self.wavelets = Wavelets(config)
        self.find_rhythm = Rhythm(config)
        self.find_motion = None if config.recovery == "paper" else Motion(config)
        self.recover = (
            Imitation(config) if config.recovery == "paper" else Attenuation(config, self.wavelets)
        )
        self.width = self.recover.width

    def forward(self, contexts: Tensor, references: Tensor) -> tuple[Tensor, Tensor]:
        axes = contexts.shape[1]
        known = references.flatten(0, 1).double()
        levels = self.wavelets.split(contexts.flatten(0, 1).double())
        cleaned = self.wavelets.join(levels)
        windows = cleaned[:, -self.window :]
        periodic = self.find_rhythm(windows)
        if self.find_motion is not None:
            periodic = periodic & ~self.find_motion(levels)
        calm = periodic.unsqueeze(-1)
        recovered = torch.where(calm, windows, self.recover(levels, cleaned, known))
        left = torch.where(calm, self.recover.remember(levels, windows), known)
        return recovered.float().unflatten(0, (-1, axes)), left.float().unflatten(0, (-1, axes))


class Motion(nn.Module):
    """Levels in, which rows are too lively for a heart out, as the event detector sees it."""

    def __init__(self, config: DenoiseConfig) -> None:
        super().__init__()
        self.window = config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.most_fluctuation = config.most_fluctuation
        # The level below holds everything twice as often, so its squares count half.
        self.shares: Tensor
        self.register_buffer("shares", 0.5 ** torch.tensor(config.kept_levels).double())

    def forward(self, levels: Levels) -> Tensor:
        local = measure_local_power(levels.coefficients, self.around)
        rms = (self.shares.unsqueeze(-1) * local).sum(dim=1).sqrt()
        most = (self.most_fluctuation * quarter(rms)).clamp_max(STRONGEST_BEAT)
        return rms[:, -self.window :].amax(dim=-1) > most


def make_preparation(preparation: Preparation) -> Filtered | Denoised:
    """Give the network that prepares windows as the pipeline does under this name."""
    return Filtered(preparation) if preparation.name == "bandpass" else Denoised(preparation)
