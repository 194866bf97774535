"""The README's figures of the paper, from the outcomes in docs/results/paper.

``python docs/make_figures.py`` writes them between their marks. Nothing is measured here:
``acclock experiment run`` does that.
"""

from pathlib import Path

from acclock.experiments.paper.catalog import list_experiments
from acclock.experiments.paper.cohorts import SIMULATED
from acclock.experiments.paper.scales import SCALES
from acclock.experiments.paper.store import OutcomeStore, Record
from acclock.experiments.paper.summary import Cell, summarize

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "paper"
BEGIN, END = "<!-- figures of the paper -->", "<!-- end of the figures -->"
HEAD = "| FAR / FRR in % | paper | simulated ears | real chests |\n|---|---|---|---|"
SHOWN = (
    ("users", "still", "far", "frr", "at rest, windows of the same sessions"),
    ("users", "still", "cross_far", "cross_frr", "at rest, other sessions"),
    ("registration", "30 windows", "far", "frr", "30 windows enrolled"),
    ("movements", "walk", "far", "frr", "walking"),
    ("sampling-rates", "25 Hz", "far", "frr", "at 25 Hz"),
    ("packet-loss", "30 %, learned", "far", "frr", "30 % of the samples lost"),
)


def main() -> None:
    """Put the figures into the README."""
    readme = ROOT / "README.md"
    readme.write_text(insert(readme.read_text()))


def insert(text: str) -> str:
    """Give a text with the figures between their marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{make_table()}\n{END}{after}"


def make_table() -> str:
    """Give the figures as a table; what was not measured, or only in part, stays empty."""
    return "\n".join([HEAD, *(_make_row(*one) for one in SHOWN)])


def _make_row(name: str, variant: str, far: str, frr: str, words: str) -> str:
    experiment, store, scale = list_experiments()[name], OutcomeStore(RESULTS), SCALES["standard"]
    read = {one: store.read(name, one, scale.name) for one in store.list_cohorts(scale.name)}
    held = {one: records for one, records in read.items() if _is_whole(name, one, records)}
    found = {
        row.what: row for row in summarize(experiment, held, scale=scale) if row.variant == variant
    }
    rows = [found[what] for what in (far, frr) if what in found]
    papers = [row.paper for row in rows if row.paper is not None]
    paper = " / ".join(f"{100 * one:.2f}" for one in papers)
    cells = [_write([row.simulated for row in rows]), _write([row.real for row in rows])]
    return f"| {words} | {' | '.join([paper, *cells])} |"


def _is_whole(name: str, cohort: str, records: list[Record]) -> bool:
    """Tell whether all folds and variants were measured: a part of the people is no figure."""
    scale = SCALES["standard"]
    planned = list_experiments()[name].count_units(
        cohort != SIMULATED, seeds=len(scale.seeds), whole_grids=scale.whole_grids
    )
    return len(records) == planned


def _write(cells: list[Cell | None]) -> str:
    return " / ".join(f"{100 * cell.figure.value:.2f}" for cell in cells if cell)


if __name__ == "__main__":
    main()
