"""The paper's stage 2 as part of a network: a filter that learns sample by sample."""

import torch
from torch import Tensor, nn
from torch._higher_order_ops.scan import scan

from acclock.denoising.config import DenoiseConfig
from acclock.training.raw.fourier import Fourier, multiply
from acclock.training.raw.order import measure_local_power
from acclock.training.raw.wavelets import Levels

_NOTHING = 1e-12
_STILLEST = 0.1
"""Both as in :mod:`acclock.denoising.recovery`."""

_State = tuple[Tensor, Tensor, Tensor]


class Imitation(nn.Module):
    """Disturbed windows filtered towards the last periodic stretch.

    Ours (docs/decisions/0023): as :func:`acclock.denoising.recovery.imitate` does. What is
    remembered of a periodic window is the window.
    """

    def __init__(self, config: DenoiseConfig) -> None:
        super().__init__()
        self.config = config
        self.width = config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.fourier = Fourier(self.width)
        self.times: Tensor
        self.register_buffer("times", torch.arange(self.width))

    def forward(self, levels: Levels, cleaned: Tensor, references: Tensor) -> Tensor:  # noqa: ARG002
        before, windows = cleaned[:, -2 * self.width :].chunk(2, dim=1)
        known = (references != 0).any(dim=-1, keepdim=True)
        desired, strengths = _normalize(
            self._align(torch.where(known, references, before), windows)
        )
        moving, resting = self._measure_liveliness(windows), self._measure_liveliness(desired)
        fluctuation = moving / (strengths * resting.clamp_min(_STILLEST)).clamp_min(_NOTHING)
        factors = (-self.config.motion_sensitivity * fluctuation).exp()
        forgetting = factors.clamp_min(self.config.least_forgetting)
        return strengths * self._filter(_normalize(windows)[0], desired, forgetting)

    def remember(self, levels: Levels, windows: Tensor) -> Tensor:  # noqa: ARG002
        """Give what is to be known of these rows should something happen next."""
        return windows

    def _measure_liveliness(self, windows: Tensor) -> Tensor:
        return measure_local_power(windows.unsqueeze(1), self.around).squeeze(1).sqrt()

    def _align(self, references: Tensor, windows: Tensor) -> Tensor:
        """Turn the references, as rings, to where they fit the windows best."""
        real, imaginary = self.fourier(references)
        products = self.fourier.turn_back(multiply(self.fourier(windows), (real, -imaginary)))
        places = self.times - products.argmax(dim=-1, keepdim=True)
        return references.gather(1, places % self.width)

    def _filter(self, inputs: Tensor, desired: Tensor, forgetting: Tensor) -> Tensor:
        taps, confidence = self.config.taps, self.config.confidence
        start = torch.zeros_like(inputs[:, :taps])
        eye = torch.eye(taps, dtype=inputs.dtype)

        def step(state: _State, heard: _State) -> tuple[_State, Tensor]:
            weights, inverse, recent = state
            newest, wanted, factor = (values.unsqueeze(-1) for values in heard)
            recent = torch.cat([newest, recent[:, :-1]], dim=1)
            gain = (inverse * recent.unsqueeze(1)).sum(dim=-1)
            spread = factor + (gain * recent).sum(dim=1, keepdim=True)
            answer = (weights * recent).sum(dim=1, keepdim=True)
            weights = weights + gain * ((wanted - answer) / spread)
            inverse = inverse - gain.unsqueeze(2) * gain.unsqueeze(1) / spread.unsqueeze(2)
            trace = (inverse * eye).sum(dim=(1, 2)).unsqueeze(-1)
            growth = torch.where(trace <= confidence * taps * factor, 1.0 / factor, 1.0)
            return (weights, inverse * growth.unsqueeze(2), recent), answer.squeeze(-1)

        first = (start, start.unsqueeze(-1) + confidence * eye, start.clone())
        _, answers = scan(step, first, (inputs.T, desired.T, forgetting.T))
        return answers.T


def _normalize(signals: Tensor) -> tuple[Tensor, Tensor]:
    spreads = signals.std(dim=-1, keepdim=True, correction=0)
    centered = signals - signals.mean(dim=-1, keepdim=True)
    return centered / torch.where(spreads > 0, spreads, 1.0), spreads
