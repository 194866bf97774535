"""Encoders side by side on real hearts: the same people, the same folds, the same trials.

    python -m benchmarks.encoders MSCARDIO [ROW ...] [--head CLASSYGLASS] [--work FOLDER]

Each row is trained three times, each time without the people it is then tried on, and evaluated
as ``acclock evaluate mscardio`` does across sessions. What is done is not done again: trainings
are kept in the work folder, figures in ``docs/results/encoders``; the table in
``docs/real-hearts.md`` is written from those.
"""

import argparse
import json
import time
from pathlib import Path

from acclock.embedding.embedder import Embedder
from acclock.errors import ConfigError
from acclock.experiments.evaluation import evaluate_folds
from acclock.experiments.panels import Panel
from acclock.experiments.participants import gather as gather_people
from acclock.experiments.report import describe
from acclock.experiments.trials import FEWEST_RECORDINGS
from acclock.models.files import read_model
from acclock.training.corpora import gather
from acclock.training.on_disk import Training, cross_validate
from acclock.training.recipe import read_recipe
from acclock.training.run import use_threads

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results" / "encoders"
PAGE = DOCS / "real-hearts.md"
BEGIN, END = "<!-- encoders: begin -->", "<!-- encoders: end -->"

_SHORT = """
windows_per_person = 16
keep = "last"
[network_stage]
epochs = {epochs}
learning_rate = 2e-3
halved_every = 4
weight_decay = 0.01
[embedding_stage]
epochs = 3
learning_rate = 2e-3
batch = 256
"""
_PAPER = 'base = "paper"\naxes = {axes}' + _SHORT.format(epochs=12)
_FAST = 'base = "fast"\nnetwork = "{network}"' + _SHORT
_VIEWS = 'base = "views"\n'
_SPECTRUM = "[sizes]\nspectrogram = false\nrhythm = false\n"
_DISCRIMINANT = '[whitening]\nkept = "people"\nshrinkage = 0.3\ndays = 1.0\n'
_LINEAR = "embedding_width = 50\n" + _SPECTRUM + _DISCRIMINANT

ROWS: dict[str, tuple[str, str]] = {
    "hidnet-1": ("HIDNet as in the paper, one axis", _PAPER.format(axes=1)),
    "hidnet-3": ("HIDNet, three axes with channel attention", _PAPER.format(axes=3)),
    "lstm": ("LSTM", _FAST.format(network="lstm", epochs=12)),
    "conformer": ("Conformer", _FAST.format(network="conformer", epochs=12)),
    "resnet50": ("ResNet50, a third of the steps", _FAST.format(network="resnet50", epochs=4)),
    "cnn": ("CNN, triplets", _FAST.format(network="cnn", epochs=12)),
    "two-branch": (
        "two-branch CNN, its features whitened",
        _FAST.format(network="two-branch", epochs=12),
    ),
    "spectrum-lda-paper": (
        "spectrum and coherence, discriminant analysis, denoised as in the paper",
        _VIEWS + 'preparation = "paper"\n' + _LINEAR,
    ),
    "spectrum-lda": (
        "spectrum and coherence, discriminant analysis, band-passed: **the bar**",
        _VIEWS + _LINEAR,
    ),
    "spectrum-whitened": (
        "the same numbers, whitened",
        _VIEWS + "embedding_width = 256\n" + _SPECTRUM,
    ),
    "views-two-stage": (
        "all views, whitened, denoised in two stages",
        _VIEWS + 'preparation = "two-stage"\n',
    ),
    "views-paper": (
        "all views, whitened, denoised as in the paper",
        _VIEWS + 'preparation = "paper"\n',
    ),
    "views-1-axis": ("all views, whitened, one axis", _VIEWS + "axes = 1\n"),
    "views-50-hz": ("all views, whitened, at 50 Hz", _VIEWS + "rate_hz = 50.0\n"),
    "views-25-hz": ("all views, whitened, at 25 Hz", _VIEWS + "rate_hz = 25.0\n"),
    "views": ("all views, whitened", _VIEWS),
    "views-simulated": ("the same with 40 simulated people beside", _VIEWS),
    "shipped": ("**shipped**: with 47 people of ClassyGlass at rest besides those", _VIEWS),
}
"""Name -> what the table calls it, and its recipe."""
_SIMULATED = "simulated:40"
_RESTING = "#activity=reading,typing,writing,browsing,computer"


def run(row: str, data: str, *, head: str | None, work: Path) -> dict[str, object]:
    """Train and evaluate one row."""
    begun = time.perf_counter()
    title, text = ROWS[row]
    recipe = read_recipe(text)
    places = [data, *_beside(row, head)]
    corpus = gather(places, recipe.prepared, cache=work / "windows")
    training = Training(recipe=recipe, corpus=corpus, folder=work / row, name=row)
    found = cross_validate(training)
    spent_s = time.perf_counter() - begun
    panels = [_seat(model, data) for model in found.models]
    figures = {
        gate: describe(
            evaluate_folds(panels, protocol="cross-session", gated=gate == "gated"),
            card=panels[0].embedder.card,
        )
        for gate in ("all", "gated")
    }
    others = {name: value for name, value in found.metrics.items() if "mscardio" not in name}
    size = found.models[0].stat().st_size
    return {"row": row, "title": title, "seconds": round(spent_s), "bytes": size} | {
        "other_people": others,
        **figures,
    }


def _beside(row: str, head: str | None) -> list[str]:
    if row == "views-simulated":
        return [_SIMULATED]
    if row != "shipped":
        return []
    if head is None:
        raise ConfigError("the shipped model learned from ClassyGlass too; name it with --head")
    return [_SIMULATED, head + _RESTING]


def _seat(model: Path, data: str) -> Panel:
    embedder = Embedder(read_model(model))
    fewest = FEWEST_RECORDINGS["cross-session"]
    found = gather_people("mscardio", data, card=embedder.card, fewest_recordings=fewest)
    return Panel(participants=found.participants, embedder=embedder)


def write_table() -> str:
    """Write the table of all rows that have figures into the page, and give it."""
    lines = [
        "| encoder | 4 s window | 5 windows | 15 windows | same phone, 1 window | training |",
        "|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        file = RESULTS / f"{row}.json"
        if file.is_file():
            lines.append(_write_row(json.loads(file.read_text())))
    table = "\n".join(lines)
    if PAGE.is_file():
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    return table


def _write_row(found: dict[str, object]) -> str:
    scores = found["all"]["scores"]  # type: ignore[index]
    cells = [_write_cell(score) for score in scores]
    parts = scores[0]["parts"]
    same = [part for part in parts if (part["kind"], part["name"]) == ("device", "same")]
    phone = f"{100 * same[0]['equal_error']['value']:.1f}" if same else ""
    return f"| {found['title']} | {' | '.join(cells)} | {phone} | {found['seconds']} s |"


def _write_cell(score: dict[str, dict[str, float]]) -> str:
    pooled, mean = score["equal_error"], score["mean_equal_error"]
    low, high = pooled["low"], pooled["high"]
    return (
        f"{100 * pooled['value']:.1f} ({100 * low:.1f}-{100 * high:.1f}); {100 * mean['value']:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", help="MSCardio as a folder or zip")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--head", help="ClassyGlass as a folder or zip, for the shipped row")
    parser.add_argument("--work", type=Path, default=Path("encoders"))
    told = parser.parse_args()
    use_threads(1)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for row in told.rows or ROWS:
        file = RESULTS / f"{row}.json"
        if file.is_file():
            continue
        figures = run(row, told.data, head=told.head, work=told.work)
        file.write_text(json.dumps(figures, indent=1) + "\n")
        print(_write_row(figures), flush=True)
    print(write_table())


if __name__ == "__main__":
    main()
