"""How the wearer sits or lies while being recognized; everybody enrolls sitting."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="postures",
    title="Postures",
    where="Fig. 21",
    variants=(
        Variant(name="sitting", scene={"posture": "sitting"}, paper={"far": 0.0313, "frr": 0.0299}),
        Variant(
            name="reclining", scene={"posture": "reclining"}, paper={"far": 0.0364, "frr": 0.0373}
        ),
        Variant(name="lying", scene={"posture": "lying"}, paper={"far": 0.0292, "frr": 0.0287}),
        Variant(
            name="standing", scene={"posture": "standing"}, paper={"far": 0.0462, "frr": 0.0453}
        ),
    ),
)
