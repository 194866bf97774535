"""Every preparation of the pipeline as part of a network, and the model behind it."""

import torch
from torch import Tensor, nn

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import STRONGEST_BEAT
from acclock.denoising.quality import BEATS_HZ, LIMIT, QUIETEST, SECOND_DIFFERENCE, THIN
from acclock.embedding.card import Card
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.pipeline import BAND_HZ, Preparation
from acclock.training.raw.filters import (
    BandPass,
    WaveletLevels,
    Wavelets,
    measure_local_power,
    median,
    quarter,
)
from acclock.training.raw.recovery import Attenuation, Imitation, PeriodicityCheck


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
        self.find_rhythm = PeriodicityCheck(config)
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

    def forward(self, levels: WaveletLevels) -> Tensor:
        local = measure_local_power(levels.coefficients, self.around)
        rms = (self.shares.unsqueeze(-1) * local).sum(dim=1).sqrt()
        most = (self.most_fluctuation * quarter(rms)).clamp_max(STRONGEST_BEAT)
        return rms[:, -self.window :].amax(dim=-1) > most


def make_preparation(preparation: Preparation) -> Filtered | Denoised:
    """Give the network that prepares windows as the pipeline does under this name."""
    return Filtered(preparation) if preparation.name == "bandpass" else Denoised(preparation)


QUALITIES = ("rms", "beat_to_noise_db", "fluctuation", "saturated_share")
"""What the columns of the quality are, as :class:`~acclock.denoising.quality.WindowQuality` has
them; ``rms`` is that of the strongest axis between 0.8 and 25 Hz, in m/s²."""


class Quality(nn.Module):
    """Contexts in, the qualities of the windows at their ends out: ``(batch, quality)``."""

    def __init__(self, config: DenoiseConfig) -> None:
        super().__init__()
        self.window = config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.find_beats = BandPass(config.context_length, config.rate_hz, BEATS_HZ).float()

    def forward(self, contexts: Tensor) -> Tensor:
        beats = self.find_beats(contexts)
        rms = beats[..., -self.window :].std(dim=-1, correction=0)
        noise = median(contexts.diff(n=2).abs()) / SECOND_DIFFERENCE
        rise = (rms / noise.clamp_min(QUIETEST)).amax(dim=1)
        qualities = (
            rms.amax(dim=1),
            20.0 * rise.clamp_min(QUIETEST).log10(),
            self._measure_fluctuation(beats),
            _measure_saturation(contexts[..., -self.window :]),
        )
        return torch.stack(qualities, dim=1)

    def _measure_fluctuation(self, beats: Tensor) -> Tensor:
        local = measure_local_power(beats, self.around)
        liveliest = local[..., -self.window :].amax(dim=-1).sqrt()
        usual = median(local[..., ::THIN]).sqrt()
        return (liveliest / usual.clamp_min(QUIETEST)).amax(dim=1)


def _measure_saturation(windows: Tensor) -> Tensor:
    still = (windows.diff() == 0) & (windows[..., 1:].abs() > LIMIT)
    return (still[..., 1:] & still[..., :-1]).float().mean(dim=(1, 2))


class RawModel(nn.Module):
    """Raw contexts ``(batch, 3, n)`` in m/s² in; embeddings, qualities and references out.

    Ours (docs/decisions/0023). A context has no holes: short gaps are bridged by a line before
    it comes here. ``references`` are what the contexts before left behind, zero where a stream
    begins; the band-pass takes and gives none.
    """

    def __init__(self, model: EmbeddingModel, card: Card) -> None:
        super().__init__()
        preparation = Preparation.of(card)
        self.axes, self.context = card.axes, preparation.config.context_length
        self.prepare = make_preparation(preparation)
        self.judge = Quality(preparation.config)
        self.model = model

    def forward(self, contexts: Tensor, references: Tensor | None = None) -> tuple[Tensor, ...]:
        windows, left = self.prepare(contexts, references)
        told = self.model(windows[:, : self.axes]), self.judge(contexts)
        return told if left is None else (*told, left)

    def make_example(self, *, batch: int) -> tuple[Tensor, ...]:
        """Give contexts, with references if there are any, of the shapes that are read here."""
        contexts = torch.randn(batch, 3, self.context, generator=torch.Generator().manual_seed(0))
        width = self.prepare.width
        return (contexts, torch.zeros(batch, 3, width)) if width else (contexts,)
