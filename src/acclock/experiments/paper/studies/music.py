"""Music from the earphone itself."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="music",
    title="Music",
    where="Fig. 25",
    variants=(
        Variant(name="off", scene={"music": "off"}, paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="low", scene={"music": "low"}),
        Variant(name="medium", scene={"music": "medium"}),
        Variant(name="high", scene={"music": "high"}, paper={"far": 0.0414, "frr": 0.0465}),
    ),
)
