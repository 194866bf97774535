"""What is drawn of an experiment, as SVG that a page can hold."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from acclock.experiments.paper.store import Record
from acclock.experiments.paper.summary import Cell, Rates, Row, gather_rates
from acclock.experiments.paper.variants import Experiment

COLORS = {"far": "#c62828", "frr": "#1565c0"}
WORDS = {"far": "FAR", "frr": "FRR"}
_WIDTH, _LEFT, _RIGHT = 760.0, 250.0, 60.0
_BAR, _LANE = 14.0, 9.0


def draw_rows(rows: Sequence[Row], *, title: str) -> str:
    """Draw the rates of every variant: the paper's hollow, ours simulated round, ours real square.

    Lines are 95 % intervals. Nothing is drawn where no rates were measured.
    """
    drawn = [row for row in rows if row.what in COLORS and (row.simulated or row.real)]
    if not drawn:
        return ""
    variants = list(dict.fromkeys(row.variant for row in drawn))
    top = max(0.05, *(_reach(row) for row in drawn))
    scale = (_WIDTH - _LEFT - _RIGHT) / top
    height = len(variants) * 4 * _LANE + 24
    parts = [_draw_axis(top, scale, height)]
    for row in drawn:
        lane = variants.index(row.variant) * 4 + 1 + list(COLORS).index(row.what) * 1.4
        parts.append(_draw_row(row, 10 + lane * _LANE, scale))
    names = [
        f'<text x="{_LEFT - 10:g}" y="{10 + (4 * n + 1.9) * _LANE:.1f}" text-anchor="end">'
        f"{escape(name)}</text>"
        for n, name in enumerate(variants)
    ]
    key = " FAR red, FRR blue; paper hollow, simulated round, real square."
    return frame(f"{title}.{key}", "".join([*parts, *names]), _WIDTH, height)


def draw_people_chart(rates: Rates, *, title: str) -> str:
    """Draw the rates of everybody, the worst first."""
    worst = sorted(rates, key=lambda who: -max(rates[who]["far"], rates[who]["frr"]))
    top = max(0.01, *(rates[who][what] for who in worst for what in COLORS))
    scale = (_WIDTH - _LEFT - _RIGHT) / top
    lines = []
    for n, who in enumerate(worst):
        name = escape(who.rpartition("/")[2])
        middle = n * 2.4 * _BAR / 2 + 12
        lines.append(
            f'<text x="{_LEFT - 10:g}" y="{middle + 3:.1f}" text-anchor="end">{name}</text>'
        )
        for lane, (what, color) in enumerate(COLORS.items()):
            value, y = rates[who][what], middle - 6 + lane * 6
            lines.append(
                f'<rect x="{_LEFT:g}" y="{y:.1f}" width="{value * scale:.1f}" height="5"'
                f' fill="{color}"><title>{WORDS[what]} {value:.2%}</title></rect>'
            )
    height = len(worst) * 1.2 * _BAR + 24
    body = _draw_axis(top, scale, height) + "".join(lines)
    return frame(f"{title}. FAR red, FRR blue.", body, _WIDTH, height)


def frame(title: str, body: str, width: float, height: float) -> str:
    """Put a drawing into a figure with its title below."""
    return (
        f'<figure><svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img"'
        f' aria-label="{escape(title)}">{body}</svg>'
        f'<figcaption style="max-width: {width:g}px">{escape(title)}</figcaption></figure>'
    )


def _reach(row: Row) -> float:
    cells = [cell.figure.value for cell in (row.simulated, row.real) if cell]
    return max([*cells, row.paper or 0.0])


def _draw_axis(top: float, scale: float, height: float) -> str:
    step = next(one for one in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2) if top / one <= 8 or one == 0.2)
    places = [step * n for n in range(int(top / step + 1e-9) + 1)]
    return "".join(
        f'<line x1="{_LEFT + place * scale:.1f}" x2="{_LEFT + place * scale:.1f}" y1="4"'
        f' y2="{height - 14:.1f}" stroke="#ddd"/><text x="{_LEFT + place * scale:.1f}"'
        f' y="{height - 3:.1f}" text-anchor="middle" fill="#666">{100 * place:g} %</text>'
        for place in places
    )


def _draw_row(row: Row, y: float, scale: float) -> str:
    color = COLORS[row.what]
    parts = []
    if row.simulated:
        x = _LEFT + row.simulated.figure.value * scale
        parts += [
            _draw_interval(row.simulated, y, scale, color),
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>',
        ]
    if row.real:
        x = _LEFT + row.real.figure.value * scale
        parts += [
            _draw_interval(row.real, y, scale, color),
            f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{color}"/>',
        ]
    if row.paper is not None:
        x = _LEFT + row.paper * scale
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#fff" fill-opacity="0" '
            f'stroke="{color}" stroke-width="1.5"/>'
        )
    return "".join(parts)


def _draw_interval(cell: Cell, y: float, scale: float, color: str) -> str:
    left, right = (
        _LEFT + min(end * scale, _WIDTH - _LEFT) for end in (cell.figure.low, cell.figure.high)
    )
    return (
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{color}"'
        ' stroke-opacity="0.5"/>'
    )


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


Held = Mapping[str, list[Record]]
"""Cohort -> what was measured of it."""
_DET = "det"
_WITH_DET = ("users", "baselines", "ablations", "device", "movements")


def draw(experiment: Experiment, held: Held, rows: Sequence[Row]) -> list[str]:
    """Draw all that can be drawn of an experiment."""
    drawn = [draw_rows(rows, title=experiment.title)]
    for cohort, records in held.items():
        title = f"{experiment.title}, {cohort}"
        drawn += _draw_people(experiment, records, title)
        drawn += _draw_series(experiment, records, cohort)
    return [one for one in drawn if one]


def _draw_people(experiment: Experiment, records: list[Record], title: str) -> list[str]:
    rates = gather_rates(records, experiment.variants[0].name)
    if experiment.name != "users" or not rates:
        return []
    return [draw_people_chart(rates, title=f"{title}: everybody, the worst first")]


def _draw_series(experiment: Experiment, records: list[Record], cohort: str) -> list[str]:
    title = f"{experiment.title}, {cohort}"
    match experiment.measure:
        case "rates" | "device" if experiment.name in _WITH_DET:
            curves = _average_det(experiment, records)
            return [draw_det(curves, title=f"{title}: FRR over FAR")] if curves else []
        case "neighbors":
            return [
                draw_points(one.outcome.series, title=f"{cohort}: {one.variant}") for one in records
            ]
        case "wavelets":
            return [
                draw_picture(rows, title=f"{cohort}, {name}: 1 s by 1 to 25 Hz")
                for one in records
                for name, rows in one.outcome.series.items()
            ]
        case "days":
            people = {k: v for one in records for k, v in one.outcome.series.items() if len(v)}
            told = f"{title}: FRR of those recorded most often, by days since enrollment"
            return [draw_days(people, title=told)] if people else []
    return []


def _average_det(
    experiment: Experiment, records: list[Record]
) -> dict[str, list[tuple[float, float]]]:
    """Average the curves of all folds and seeds, each at the same false-accept rates."""
    curves = {}
    for variant in experiment.variants:
        found = [
            np.asarray(one.outcome.series[_DET])
            for one in records
            if one.variant == variant.name and _DET in one.outcome.series
        ]
        if found:
            mean = np.mean(found, axis=0)
            curves[variant.name] = [(float(x), float(y)) for x, y in mean]
    return curves
