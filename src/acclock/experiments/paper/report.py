"""The paper and ours side by side: a page for a browser and a table in Markdown."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from acclock.experiments.bootstrap import ROUNDS
from acclock.experiments.paper.cohorts import SIMULATED
from acclock.experiments.paper.figures import Held, draw
from acclock.experiments.paper.page import fill_page, fill_section
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.store import Store
from acclock.experiments.paper.summary import gather_rates, summarize
from acclock.experiments.paper.variants import Experiment
from acclock.experiments.paper.versions import VERSIONS
from acclock.experiments.paper.wording import HEAD, write_row
from acclock.world.replacing import replacing

_TITLE = "# The paper's experiments, again"
_SMOKE = "**A smoke test: these figures are not results.**"


def write_report(experiments: Sequence[Experiment], *, scale: Scale, out: Path) -> dict[str, str]:
    """Write ``report-SCALE.html`` and ``report-SCALE.md`` from all outcomes in a folder."""
    store = Store(out)
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


def _describe_making(store: Store, scale: Scale) -> list[str]:
    """Say with which settings and by which versions of what the outcomes were made."""
    settings = ", ".join(f"{name} {value}" for name, value in asdict(scale).items())
    made = "; ".join(store.list_makers(scale.name))
    return [f"Scale: {settings}.", *([f"Made with {made}."] if made else [])]


def _read(store: Store, experiment: Experiment, cohorts: Sequence[str], scale: Scale) -> Held:
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
