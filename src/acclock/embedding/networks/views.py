"""Several looks at one window, laid side by side."""

import torch
from torch import Tensor, nn

from acclock.embedding.networks.config import ViewsConfig, WindowShape
from acclock.embedding.networks.rhythm import EnvelopeRhythm
from acclock.embedding.networks.spectra import BandSpectra, Spectrogram, SpectrogramStatistics

TOP_SHARE = 0.4
"""Of the rate: above this share of it sensors differ in how they end."""
_STRETCH_S, _STEP_S = 1.6, 0.2


class Views(nn.Module):
    """Windows in; what their spectrum, its changes and the rhythm of its bands say, out.

    Nothing here is learned. What makes an embedding of it is the head, which weighs every
    direction by how little it varies within a person (:mod:`acclock.training.whitening`).
    Ours (docs/decisions/0030).
    """

    def __init__(self, config: ViewsConfig, shape: WindowShape) -> None:
        super().__init__()
        rate_hz = shape.rate_hz
        top_hz = TOP_SHARE * rate_hz
        views: list[BandSpectra | SpectrogramStatistics | EnvelopeRhythm] = [
            BandSpectra(shape=shape, rate_hz=rate_hz, bands=config.bands, top_hz=top_hz)
        ]
        if config.spectrogram:
            stretch, step = round(_STRETCH_S * rate_hz), round(_STEP_S * rate_hz)
            look = Spectrogram(stretch=stretch, step=step, rate_hz=rate_hz, top_hz=top_hz)
            views.append(SpectrogramStatistics(look, axes=shape.axes))
        if config.rhythm:
            views.append(EnvelopeRhythm(rate_hz=rate_hz, bands=config.rhythm_bands, top_hz=top_hz))
        self.views = nn.ModuleList(views)
        self.feature_width = sum(view.feature_width for view in views)

    def forward(self, windows: Tensor) -> Tensor:
        return torch.cat([view(windows) for view in self.views], dim=1)
