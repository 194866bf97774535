"""Stage 2 as part of a network: which windows beat evenly, and the others recovered."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch._higher_order_ops.scan import scan

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.periodicity import FASTEST_BPM
from acclock.denoising.quality import THIN
from acclock.denoising.uncompiled import CALM_TO_USUAL
from acclock.training.raw.filters import (
    Fourier,
    WaveletLevels,
    Wavelets,
    measure_local_power,
    multiply,
)

_NOTHING = 1e-20
_FEWEST_PEAKS = 3


class _Peaks(NamedTuple):
    places: Tensor
    """``(rows, most)``: as many as may be; which of them there are is told beside."""
    heights: Tensor
    real: Tensor


class PeriodicityCheck(nn.Module):
    """Windows ``(rows, n)`` in, which of them are periodic out.

    Ours (docs/decisions/0023): what :func:`~acclock.denoising.periodicity.assess_periodicity`
    says. A peak that lasts three samples at exactly one height is not seen.
    """

    def __init__(self, config: DenoiseConfig) -> None:
        super().__init__()
        self.config = config
        self.times: Tensor
        self.register_buffer("times", torch.arange(config.window_length))

    def forward(self, windows: Tensor) -> Tensor:
        centered = windows - windows.mean(dim=-1, keepdim=True)
        spread = centered.square().mean(dim=-1, keepdim=True).sqrt()
        normalized = centered / spread.clamp_min(_NOTHING)
        usual, _ = self._judge(normalized, self.config.fastest_bpm)
        fast, interval_s = self._judge(normalized, FASTEST_BPM)
        return usual | (fast & (interval_s < 60.0 / self.config.fastest_bpm))

    def _judge(self, normalized: Tensor, fastest_bpm: float) -> tuple[Tensor, Tensor]:
        distance = int(self.config.rate_hz * 60.0 / fastest_bpm)
        peaks = self._keep_prominent(normalized, self._find_peaks(normalized, distance))
        intervals, following = self._measure_intervals(peaks)
        mean, in_time = _vary(intervals, following)
        _, in_height = _vary(peaks.heights, peaks.real)
        enough = peaks.real.sum(dim=-1) >= _FEWEST_PEAKS
        even = in_time < self.config.most_interval_variation
        level = in_height < self.config.most_amplitude_variation
        return enough & even & level, mean / self.config.rate_hz

    def _find_peaks(self, signals: Tensor, distance: int) -> _Peaks:
        """Take the highest top, then the highest of those far enough from all taken, and so on."""
        inner = signals[:, 1:-1]
        rises = (inner > signals[:, :-2]) & (inner >= signals[:, 2:])
        waiting = nn.functional.pad(rises, (1, 1))
        found = []
        for _ in range(-(-len(self.times) // distance)):
            heights, places = torch.where(waiting, signals, -torch.inf).max(dim=-1, keepdim=True)
            found.append(_Peaks(places, heights, heights > -torch.inf))
            waiting = waiting & ((self.times - places).abs() >= distance)
        return _Peaks(*(torch.cat(parts, dim=-1) for parts in zip(*found, strict=True)))

    def _keep_prominent(self, signals: Tensor, peaks: _Peaks) -> _Peaks:
        """Leave out what rises too little above the higher of the valleys beside it."""
        places, heights = peaks.places.unsqueeze(-1), peaks.heights.unsqueeze(-1)
        rows = signals.unsqueeze(1)
        higher = rows > heights
        left, right = higher & (self.times < places), higher & (self.times > places)
        begin = torch.where(left, self.times, -1).amax(dim=-1, keepdim=True)
        end = torch.where(right, self.times, len(self.times)).amin(dim=-1, keepdim=True)
        before = (self.times > begin) & (self.times <= places)
        after = (self.times < end) & (self.times >= places)
        valleys = torch.maximum(
            torch.where(before, rows, torch.inf).amin(dim=-1),
            torch.where(after, rows, torch.inf).amin(dim=-1),
        )
        prominent = peaks.heights - valleys >= self.config.least_prominence
        return peaks._replace(real=peaks.real & prominent)

    def _measure_intervals(self, peaks: _Peaks) -> tuple[Tensor, Tensor]:
        """Give the steps from each peak to the next, and which of them there are."""
        behind = 2 * len(self.times)
        ordered, _ = torch.where(peaks.real, peaks.places, behind).sort(dim=-1)
        return ordered.diff(dim=-1).double(), ordered[:, 1:] < behind


def _vary(values: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Give the mean and the coefficient of variation of those values that are there."""
    count = real.sum(dim=-1).clamp_min(1)
    mean = torch.where(real, values, 0.0).sum(dim=-1) / count
    squares = torch.where(real, values - mean.unsqueeze(-1), 0.0).square().sum(dim=-1) / count
    variation = squares.sqrt() / mean.clamp_min(_NOTHING)
    return mean, torch.where(mean > 0, variation, torch.inf)


_RECOVERY_NOTHING = 1e-300


class Attenuation(nn.Module):
    """Levels turned down where they are livelier than the wearer's heart makes them.

    Ours (docs/decisions/0023): as :func:`acclock.denoising.sporadic.attenuate` does. What is
    remembered of a periodic window is the mean square of each level.
    """

    def __init__(self, config: DenoiseConfig, wavelets: Wavelets) -> None:
        super().__init__()
        self.width = len(config.kept_levels)
        self.window = config.window_length
        self.around = round(config.local_s * config.rate_hz / 2)
        self.headroom = config.headroom
        self.join = wavelets.join

    def forward(self, levels: WaveletLevels, cleaned: Tensor, references: Tensor) -> Tensor:  # noqa: ARG002
        local = measure_local_power(levels.coefficients, self.around).clamp_min(_RECOVERY_NOTHING)
        ordered, _ = local[..., ::THIN].sort(dim=-1)
        calm = ordered[..., (ordered.shape[-1] - 1) // 4]
        usual = torch.where(references > 0, references, CALM_TO_USUAL * calm).unsqueeze(-1)
        gains = (self.headroom * usual / local).clamp_max(1.0)
        calmer = WaveletLevels(levels.coefficients * gains, levels.thresholds)
        return self.join(calmer)[:, -self.window :]

    def remember(self, levels: WaveletLevels, windows: Tensor) -> Tensor:  # noqa: ARG002
        """Give what is to be known of these rows should something happen next."""
        return levels.coefficients[..., -self.window :].square().mean(dim=-1)


_IMITATION_NOTHING = 1e-12
_STILLEST = 0.1
"""Both as in :mod:`acclock.denoising.sporadic`."""

_State = tuple[Tensor, Tensor, Tensor]


class Imitation(nn.Module):
    """Disturbed windows filtered towards the last periodic stretch.

    Ours (docs/decisions/0023): as :func:`acclock.denoising.sporadic.imitate` does. What is
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

    def forward(self, levels: WaveletLevels, cleaned: Tensor, references: Tensor) -> Tensor:  # noqa: ARG002
        before, windows = cleaned[:, -2 * self.width :].chunk(2, dim=1)
        known = (references != 0).any(dim=-1, keepdim=True)
        desired, strengths = _normalize(
            self._align(torch.where(known, references, before), windows)
        )
        moving, resting = self._measure_liveliness(windows), self._measure_liveliness(desired)
        fluctuation = moving / (strengths * resting.clamp_min(_STILLEST)).clamp_min(
            _IMITATION_NOTHING
        )
        factors = (-self.config.motion_sensitivity * fluctuation).exp()
        forgetting = factors.clamp_min(self.config.least_forgetting)
        return strengths * self._filter(_normalize(windows)[0], desired, forgetting)

    def remember(self, levels: WaveletLevels, windows: Tensor) -> Tensor:  # noqa: ARG002
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
