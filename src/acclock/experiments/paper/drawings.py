"""Curves, points in a plane, and pictures of time and frequency, as SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from acclock.experiments.paper.charts import frame

Points = Sequence[Sequence[float]]

_HUES = 137.508
"""Degrees from one color to the next: however many there are, neighbors differ."""
_LEAST = 1e-3
_SIDE = 300.0
_LEVELS = 12


def draw_det(curves: Mapping[str, Points], *, title: str) -> str:
    """Draw FRR over FAR, both on logarithmic scales from 0.1 to 100 %."""
    ticks = [0.001, 0.01, 0.1, 1.0]
    parts = [
        f'<line x1="50" x2="350" y1="{_fall(y):.1f}" y2="{_fall(y):.1f}" stroke="#ddd"/>'
        f'<text x="44" y="{_fall(y) + 3:.1f}" text-anchor="end">{100 * y:g} %</text>'
        f'<line y1="10" y2="310" x1="{_go(y):.1f}" x2="{_go(y):.1f}" stroke="#ddd"/>'
        f'<text x="{_go(y):.1f}" y="324" text-anchor="middle">{100 * y:g} %</text>'
        for y in ticks
    ]
    for n, (name, points) in enumerate(curves.items()):
        places = " ".join(f"{_go(x):.1f},{_fall(y):.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{places}" fill="none" stroke="{_color(n)}" stroke-width="1.8"/>'
            f'<text x="366" y="{20 + 14 * n}" fill="{_color(n)}">{escape(name)}</text>'
        )
    parts.append('<text x="200" y="340" text-anchor="middle">FAR</text>')
    parts.append('<text x="12" y="160" transform="rotate(-90 12 160)">FRR</text>')
    return frame(title, "".join(parts), 620, 348)


def draw_points(people: Mapping[str, Points], *, title: str) -> str:
    """Draw points in a plane, a color for each person."""
    whole = np.concatenate([np.asarray(points) for points in people.values() if len(points)])
    low = whole.min(axis=0)
    scale = (_SIDE - 12) / max(float((whole.max(axis=0) - low).max()), 1e-9)
    dots = [
        f'<circle cx="{6 + (x - low[0]) * scale:.1f}" cy="{6 + (y - low[1]) * scale:.1f}" r="2.2"'
        f' fill="{_color(n)}"/>'
        for n, points in enumerate(people.values())
        for x, y in points
    ]
    return frame(title, "".join(dots), _SIDE, _SIDE)


def draw_picture(rows: Points, *, title: str) -> str:
    """Draw a matrix, the first row lowest, dark where it is large; equal neighbors are one."""
    levels = np.round(np.asarray(rows) * _LEVELS).astype(int)
    height, width = levels.shape
    cell_x, cell_y = 200.0 / width, 120.0 / height
    parts = []
    for number, row in enumerate(levels):
        edges = [0, *(np.flatnonzero(np.diff(row)) + 1), width]
        for begin, end in pairwise(edges):
            shade = 255 - round(255 * min(row[begin], _LEVELS) / _LEVELS)
            parts.append(
                f'<rect x="{begin * cell_x:.1f}" y="{(height - 1 - number) * cell_y:.1f}"'
                f' width="{(end - begin) * cell_x + 0.2:.1f}" height="{cell_y + 0.2:.1f}"'
                f' fill="rgb({shade},{shade},{min(255, shade + 60)})"/>'
            )
    return frame(title, "".join(parts), 200, 120)


def draw_days(people: Mapping[str, Points], *, title: str) -> str:
    """Draw a share over days, a color for each person."""
    days = max(day for points in people.values() for day, _ in points)
    parts = [
        f'<line x1="50" x2="590" y1="{210 - 200 * y:.1f}" y2="{210 - 200 * y:.1f}" stroke="#ddd"/>'
        f'<text x="44" y="{213 - 200 * y:.1f}" text-anchor="end">{100 * y:g} %</text>'
        for y in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    for n, (name, points) in enumerate(people.items()):
        places = [(50 + 540 * day / days, 210 - 200 * share) for day, share in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{_color(n)}" stroke-opacity="0.4"/>'
            f'<text x="610" y="{20 + 14 * n}" fill="{_color(n)}">{escape(name)}</text>'
        )
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_color(n)}"/>' for x, y in places
        ]
    parts.append(f'<text x="590" y="228" text-anchor="end">{days:g} days</text>')
    return frame(title, "".join(parts), 760, 232)


def _go(share: float) -> float:
    return 50.0 + _SIDE * _find_place(share)


def _fall(share: float) -> float:
    return 310.0 - _SIDE * _find_place(share)


def _find_place(share: float) -> float:
    """Give where a share lies between a thousandth and one, from 0 to 1."""
    return float((np.log10(max(share, _LEAST)) - np.log10(_LEAST)) / -np.log10(_LEAST))


def _color(number: int) -> str:
    return f"hsl({number * _HUES % 360:.0f} 70% 40%)"
