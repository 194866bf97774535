"""Bars and dots, drawn as SVG that a page can hold."""

from collections.abc import Sequence
from html import escape

from acclock.experiments.paper.summary import Cell, Rates, Row

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
