"""Bars, drawn as SVG that a page can hold."""

from collections.abc import Sequence
from html import escape

import numpy as np

from acclock.experiments.paper.store import Record
from acclock.experiments.paper.summary import Rates, gather_rates
from acclock.experiments.paper.variants import Experiment

_COLORS = {"far": "#c62828", "frr": "#1565c0"}
_WORDS = {"far": "FAR", "frr": "FRR"}
_WIDTH, _BAR, _LEFT = 640.0, 14.0, 220.0

Bar = tuple[str, float, str]
"""What it is called, how long it is, its color."""


def draw_variants(experiment: Experiment, cohort: str, records: Sequence[Record]) -> str:
    """Draw the mean rates under each variant; nothing where no rates were measured."""
    bars: list[Bar] = []
    for variant in experiment.variants:
        rates = gather_rates(records, variant.name)
        for what, color in _COLORS.items():
            each = [one[what] for one in rates.values() if what in one]
            if each:
                bars.append((f"{variant.name}: {_WORDS[what]}", float(np.mean(each)), color))
    return _draw(bars, title=f"{experiment.title}, {cohort}") if bars else ""


def draw_people_chart(rates: Rates) -> str:
    """Draw the rates of everybody, the worst first."""
    worst = sorted(rates, key=lambda who: -max(rates[who]["far"], rates[who]["frr"]))
    bars = [
        (f"{who.rpartition('/')[2]}: {_WORDS[what]}", rates[who][what], color)
        for who in worst
        for what, color in _COLORS.items()
    ]
    return _draw(bars, title="Everybody, simulated")


def _draw(bars: Sequence[Bar], *, title: str) -> str:
    longest = max(max(value for _, value, _ in bars), 1e-3)
    scale = (_WIDTH - _LEFT - 70.0) / longest
    lines = [
        f'<text x="{_LEFT - 6:g}" y="{n * _BAR + 11:g}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{_LEFT:g}" y="{n * _BAR + 2:g}" width="{value * scale:.1f}"'
        f' height="{_BAR - 4:g}" fill="{color}"/>'
        f'<text x="{_LEFT + value * scale + 5:.1f}" y="{n * _BAR + 11:g}">{value:.2%}</text>'
        for n, (name, value, color) in enumerate(bars)
    ]
    height = len(bars) * _BAR + 4
    drawn = "".join(lines)
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH:g} {height:g}" width="{_WIDTH:g}" role="img"'
        f' aria-label="{escape(title)}">{drawn}</svg></figure>'
    )
