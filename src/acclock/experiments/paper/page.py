"""One page that needs nothing beside itself."""

from collections.abc import Sequence
from html import escape

from acclock.experiments.paper.variants import Experiment

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
