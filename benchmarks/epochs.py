"""After how many epochs a network has learned what it can: ``python -m benchmarks.epochs``.

The networks that the experiments compare, by their recipe, on simulated people who are in none of
them (another seed): equal error of people who were not learned from, first fold. What the
experiments need (``NEEDED_EPOCHS``) was read off this table and off no result.
"""

import argparse
import json
from dataclasses import replace

import numpy as np

from acclock.experiments.bootstrap import draw_people, estimate
from acclock.experiments.paper.cohorts import find_cohort
from acclock.experiments.paper.running import do_timed
from acclock.experiments.paper.scales import SCALES
from acclock.experiments.paper.studies.encoders import teach
from acclock.experiments.paper.units import Unit
from acclock.experiments.paper.variants import Variant

SEED = 1
"""The experiments at the standard scale have 0."""


def learn(network: str, epochs: int) -> dict[str, object]:
    """Train one network for so many epochs, and say how well it tells people apart."""
    scale = replace(SCALES["standard"], epochs=epochs)
    unit = Unit(
        experiment="epochs",
        measure="rates",
        version=1,
        variant=Variant(name=network, recipe=teach(network)),
        fold=0,
        seed=SEED,
        cohort=find_cohort("simulated"),
        scale=scale,
    )
    _, outcome, seconds = do_timed(unit)
    errors = np.array([rates["equal_error"] for rates in outcome.people.values()])
    draws = draw_people(len(errors))
    found = estimate(float(errors.mean()), draws @ errors / draws.sum(axis=1), people=len(errors))
    told = [round(100 * one, 1) for one in (found.value, found.low, found.high)]
    return {"network": network, "epochs": epochs, "percent": told, "seconds": round(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["hidnet", "cnn"])
    parser.add_argument("--epochs", nargs="+", type=int, default=[15, 30, 60, 120])
    asked = parser.parse_args()
    for network in asked.networks:
        for epochs in asked.epochs:
            print(json.dumps(learn(network, epochs)), flush=True)


if __name__ == "__main__":
    main()
