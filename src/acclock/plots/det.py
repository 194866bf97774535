"""The trade between the two errors, drawn."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from acclock.plots.recordings import new_figure, save

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from acclock.matching.rates import Det
    from acclock.values import FloatArray

_TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
_COLORS = ("#8899aa", "#1565c0", "#c62828")
_POINTS = 1500
"""On a curve: more cannot be seen."""


def draw_det(curves: Mapping[str, Det], path: Path, *, title: str) -> None:
    """Draw detection error tradeoff curves by name, on axes on which bell curves are straight."""
    figure = new_figure(6.2, 6.0)
    axes = figure.subplots()
    for number, (name, curve) in enumerate(curves.items()):
        fmr, fnmr = _thin_out(curve)
        color = _COLORS[number % len(_COLORS)]
        axes.plot(_stretch(fmr), _stretch(fnmr), color=color, linewidth=1.4, label=name)
    _lay_out(axes)
    axes.set_title(title, fontsize=10)
    axes.legend(frameon=False, loc="upper right")
    save(figure, path)


def _thin_out(curve: Det) -> tuple[FloatArray, FloatArray]:
    """Keep steps that can be seen: evenly along both errors, not along the thresholds."""
    along = _stretch(curve.fmr) - _stretch(curve.fnmr)
    kept = np.searchsorted(along, np.linspace(along[0], along[-1], _POINTS))
    kept = np.unique(np.minimum(kept, along.size - 1))
    return curve.fmr[kept], curve.fnmr[kept]


def _stretch(rates: FloatArray) -> FloatArray:
    """Give how many standard deviations of a bell curve leave such a tail; the ends are cut off."""
    grid = np.linspace(-4.0, 4.0, 801)
    tails = np.array([NormalDist().cdf(place) for place in grid])
    return np.asarray(np.interp(rates, tails, grid))


def _lay_out(axes: Axes) -> None:
    places = _stretch(np.array(_TICKS))
    names = [f"{100 * tick:g}" for tick in _TICKS]
    limits = (places[0] - 0.05, places[-1] + 0.05)
    axes.set_xticks(places, names)
    axes.set_yticks(places, names)
    axes.plot(limits, limits, color="#bbbbbb", linewidth=0.8, linestyle=":", label="equal errors")
    axes.set(xlim=limits, ylim=limits, aspect="equal")
    axes.set(xlabel="strangers accepted, FMR (%)", ylabel="users rejected, FNMR (%)")
    axes.grid(color="#e6e6e6", linewidth=0.6)
