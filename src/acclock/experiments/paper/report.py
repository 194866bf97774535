"""The paper and ours side by side: a page for a browser and a table in Markdown."""

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from acclock.experiments.bootstrap import ROUNDS
from acclock.experiments.paper.cohorts import SIMULATED
from acclock.experiments.paper.figures import Held, draw
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.store import OutcomeStore
from acclock.experiments.paper.summary import Cell, Row, gather_rates, summarize
from acclock.experiments.paper.units import VERSIONS
from acclock.experiments.paper.variants import Experiment
from acclock.system.files import replacing

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


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: left; }
td:nth-child(n+3) { text-align: right; white-space: nowrap; }
svg { font-size: 10px; max-width: 100%; background: #fff; }
figure { margin: 1rem 1rem 1rem 0; display: inline-block; vertical-align: top; }
figcaption { font-size: 12px; color: #555; }
h2 { border-top: 2px solid #333; padding-top: .6rem; margin-top: 2.5rem; }
"""


def fill_page(told: Sequence[str], sections: Sequence[str]) -> str:
    """Give a page with what is told first and the sections after it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>The paper's experiments, again</title><style>{_STYLE}</style></head>"
        f"<body><h1>The paper's experiments, again</h1>{_write(told)}"
        f"{''.join(sections)}</body></html>\n"
    )


def fill_section(
    experiment: Experiment,
    said: Sequence[str],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    charts: Sequence[str],
) -> str:
    """Give a section with a table and its charts."""
    titles = "".join(f"<th>{escape(one)}</th>" for one in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f"<h2>{escape(experiment.title)} ({escape(experiment.where)})</h2>"
        f"{_write(said)}"
        f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{''.join(charts)}\n"
    )


def _write(told: Sequence[str]) -> str:
    plain = [escape(one).replace("**", "").replace("`", "") for one in told]
    return "".join(f"<p>{one}</p>" for one in plain)


_TITLE = "# The paper's experiments, again"
_SMOKE = "**A smoke test: these figures are not results.**"


def write_report(experiments: Sequence[Experiment], *, scale: Scale, out: Path) -> dict[str, str]:
    """Write ``report-SCALE.html`` and ``report-SCALE.md`` from all outcomes in a folder."""
    store = OutcomeStore(out)
    cohorts = store.list_cohorts(scale.name)
    found = [(one, _read(store, one, cohorts, scale)) for one in experiments]
    missing = [one.name for one, held in found if not held]
    told = [
        *describe_method(scale, cohorts),
        *_describe_making(store, scale),
        f"Not run at this scale: {', '.join(missing) or 'none'}.",
    ]
    sections, pages = [], []
    for one, held in found:
        if held:
            summed = summarize(one, held, scale=scale)
            rows = [write_row(row) for row in summed]
            said = [told for told in (_describe_run(one, held, scale), one.note) if told]
            sections.append(_write_section(one, said, rows))
            pages.append(fill_section(one, said, HEAD, rows, draw(one, held, summed)))
    out.mkdir(parents=True, exist_ok=True)
    texts = {
        "md": "\n\n".join([_TITLE, *told, *sections]) + "\n",
        "html": fill_page(told, pages),
    }
    files = {ending: out / f"report-{scale.name}.{ending}" for ending in texts}
    for ending, path in files.items():
        with replacing(path) as file:
            file.write(texts[ending].encode())
    return {ending: str(path) for ending, path in files.items()}


def describe_method(scale: Scale, cohorts: Sequence[str]) -> list[str]:
    """Say how the figures came to be."""
    versions = ", ".join(f"{name} {version}" for name, version in VERSIONS.items())
    method = (
        f"Scale {scale.name}; cohorts: {', '.join(cohorts) or 'none'}. Three subject-disjoint"
        " folds; everybody is once the owner, the others of the fold are strangers; a random third"
        " of the windows enrolls and the rest is tried, each third in turn; the threshold is the"
        " one that enrollment chose by the paper's rule from a minute of each person who was"
        " learned from. Other sessions: the first half of a person's sessions enrolls, the rest is"
        f" tried. Means over people, 95 % intervals by {ROUNDS} draws of people; p by Wilcoxon's"
        " signed ranks against the first variant, corrected after Holm. Differences and p:"
        " simulated first, then real. Real recordings are of the chest, not of the ear."
        f" Seeds {', '.join(map(str, scale.seeds))}; versions: {versions}."
    )
    return [method] if scale.is_result else [_SMOKE, method]


def _describe_making(store: OutcomeStore, scale: Scale) -> list[str]:
    """Say with which settings and by which versions of what the outcomes were made."""
    settings = ", ".join(f"{name} {value}" for name, value in asdict(scale).items())
    made = "; ".join(store.list_makers(scale.name))
    return [f"Scale: {settings}.", *([f"Made with {made}."] if made else [])]


def _read(
    store: OutcomeStore, experiment: Experiment, cohorts: Sequence[str], scale: Scale
) -> Held:
    held = {name: store.read(experiment.name, name, scale.name) for name in cohorts}
    return {name: records for name, records in held.items() if records}


def _describe_run(experiment: Experiment, held: Held, scale: Scale) -> str:
    """Say by which command, on how many people, how long, and whether all of it was done."""
    told = [f"`acclock experiment run {experiment.name}`"]
    for name, records in held.items():
        planned = experiment.count_units(
            name != SIMULATED, seeds=len(scale.seeds), whole_grids=scale.whole_grids
        )
        done = "" if len(records) == planned else f", **only {len(records)} of {planned} units**"
        counts = [len(gather_rates(records, one.name)) for one in experiment.variants]
        seconds = sum(one.seconds for one in records)
        who = _count_people([count for count in counts if count])
        told.append(f"{name}: {who}{seconds:.0f} s{done}")
    return "; ".join(told) + "."


def _count_people(counts: Sequence[int]) -> str:
    """Say how many took part in the variants that have people, from the fewest to the most."""
    if not counts:
        return ""
    least, most = min(counts), max(counts)
    return f"{least} people, " if least == most else f"{least} to {most} people, "


def _write_section(
    experiment: Experiment, said: Sequence[str], rows: Sequence[Sequence[str]]
) -> str:
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"## {experiment.title} ({experiment.where})", *said, table])
