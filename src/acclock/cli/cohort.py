"""``acclock cohort``: strangers for a model, so that a new user needs nobody else's data."""

from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show

Data = Annotated[
    list[str], typer.Option("--data", help="Data sets of real people; only blends are kept.")
]


def cohort(
    model: Annotated[str, typer.Argument(help="A shipped model by name, or a file.")],
    *,
    data: Data = [],  # noqa: B006 - typer reads it, nobody changes it
    simulated: Annotated[int, typer.Option(min=1, help="How many simulated people.")] = 60,
    seed: Annotated[int, typer.Option(min=0)] = 1000,
    as_json: JsonFlag = False,
) -> None:
    """Make the cohort of MODEL and write it beside the model."""
    # loads the model's runtime, which only commands that embed should wait for
    from acclock.world.models.cohorts import cohort_path, write_cohort
    from acclock.world.models.files import find_model
    from acclock.world.models.strangers import gather_strangers

    path = cohort_path(Path(find_model(model)))
    made = gather_strangers(model, data=data, simulated=simulated, seed=seed)
    write_cohort(path, made)
    facts = {
        "written": str(path),
        "strangers": len(made),
        "people": len(made.people),
        "widest": {kind.name: round(kind.widest, 3) for kind in made.kinds},
    }
    show(facts, as_json=as_json)
