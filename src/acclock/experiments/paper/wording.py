"""A row of figures in words."""

from acclock.experiments.paper.summary import Cell, Row

HEAD = ("variant", "figure", "paper", "ours, simulated", "ours, real", "difference", "p")
_WORDS = {
    "far": "FAR",
    "frr": "FRR",
    "worst far": "FAR of the worst user",
    "worst frr": "FRR of the worst user",
    "equal_error": "equal error",
    "far_left_out": "FAR, leave-one-out rule",
    "frr_left_out": "FRR, leave-one-out rule",
    "cross_far": "FAR, other sessions",
    "cross_frr": "FRR, other sessions",
    "cross_equal_error": "equal error, other sessions",
    "cross_far_left_out": "FAR, other sessions, leave-one-out rule",
    "cross_frr_left_out": "FRR, other sessions, leave-one-out rule",
    "gated_far": "FAR, faults turned away",
}


def write_row(row: Row) -> list[str]:
    """Give the cells of a row, shares in percent."""
    factor, mark = (100.0, " %") if row.is_share else (1.0, "")
    paper = "" if row.paper is None else f"{factor * row.paper:.2f}{mark}"
    difference = "; ".join(f"{factor * one:+.2f}" for one in row.differences)
    cells = [_write_cell(cell, factor) for cell in (row.simulated, row.real)]
    chances = [one.chance for one in (row.simulated, row.real) if one and one.chance is not None]
    told = [f"{chance:.3f}" if chance >= 0.001 else "<0.001" for chance in chances]
    what = _WORDS.get(row.what, row.what)
    return [row.variant, what, paper, *cells, difference, "; ".join(told)]


def _write_cell(cell: Cell | None, factor: float) -> str:
    if cell is None:
        return ""
    figure = cell.figure
    value, low, high = (factor * one for one in (figure.value, figure.low, figure.high))
    return f"{value:.2f}" if low == high else f"{value:.2f} ({low:.2f} to {high:.2f})"
