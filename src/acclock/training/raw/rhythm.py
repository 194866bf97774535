"""Whether windows beat evenly, asked without a loop over their peaks."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from acclock.denoising.config import DenoiseConfig
from acclock.denoising.periodicity import FASTEST_BPM

_NOTHING = 1e-20
_FEWEST_PEAKS = 3


class _Peaks(NamedTuple):
    places: Tensor
    """``(rows, most)``: as many as may be; which of them there are is told beside."""
    heights: Tensor
    real: Tensor


class Rhythm(nn.Module):
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
