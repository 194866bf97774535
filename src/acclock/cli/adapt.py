"""``acclock adapt``: a model in, the same model for another device out."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.extras import needing
from acclock.cli.progress import Bars
from acclock.cli.show import JsonFlag, show
from acclock.cli.train import Places, Threads


def adapt(
    model: Annotated[str, typer.Argument(help="Weights (.safetensors), or a shipped model.")],
    *,
    data: Places,
    out: Annotated[Path, typer.Option(help="A folder for the adapted model.")],
    epochs: Annotated[int, typer.Option(min=1)] = 20,
    threads: Threads = 1,
    as_json: JsonFlag = False,
) -> None:
    """Teach MODEL another device by low-rank changes, judged by people it does not learn from."""
    with needing("train"):  # torch takes seconds to load, which only this command should cost
        from acclock.training.threads import use_threads
        from acclock.world.adaptations import adapt_into

    use_threads(threads)
    with Bars(quiet=as_json) as bars:
        adapted = adapt_into(
            model, data, out, epochs=epochs, on_progress=bars.work, on_report=bars.epoch
        )
    facts = {
        "model": str(adapted.model),
        "weights": str(adapted.weights),
        "equal_error_before": adapted.error_before,
        "equal_error_after": adapted.error_after,
        "best_epoch": adapted.best_epoch,
    }
    show(facts, as_json=as_json)
