"""Where the wearer is."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="environments",
    title="Environments",
    where="Fig. 26",
    variants=(
        Variant(
            name="classroom",
            scene={"environment": "classroom"},
            paper={"far": 0.0313, "frr": 0.0299},
        ),
        Variant(name="station", scene={"environment": "station"}),
        Variant(
            name="playground",
            scene={"environment": "playground"},
            paper={"far": 0.0371, "frr": 0.0419},
        ),
    ),
)
