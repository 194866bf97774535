"""Eight weeks after enrollment, with and without the weekly update."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="weeks",
    title="Eight weeks, without and with the weekly update",
    where="Fig. 23",
    measure="weeks",
    version=2,
    variants=(
        Variant(name="week 0", scene={"week": 0.0}, paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="week 2", scene={"week": 2.0}),
        Variant(name="week 4", scene={"week": 4.0}),
        Variant(name="week 6", scene={"week": 6.0}, paper={"far": 0.032, "frr": 0.032}),
        Variant(name="week 8", scene={"week": 8.0}, paper={"far": 0.0468, "frr": 0.0444}),
        Variant(name="week 8, updated weekly", scene={"week": 8.0}, setting=7.0),
        Variant(
            name="week 8, updated weekly, free to drift",
            scene={"week": 8.0},
            setting=7.0,
            drift_budget=100.0,
        ),
    ),
    note="In the mountings of enrollment, so that only the people have changed. The paper says"
    " 'below 3.2 %' up to week 6, and of the update 'close to the first six weeks'. Templates that"
    " are free to drift are the paper's; a patient attacker leads them away (docs/decisions/0015).",
)
