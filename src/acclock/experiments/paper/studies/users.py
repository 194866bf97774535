"""Everybody's error rates at rest, and the worst."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="users",
    title="FAR and FRR per user",
    where="Fig. 14, Fig. 15",
    variants=(
        Variant(
            name="still",
            paper={"far": 0.0313, "frr": 0.0299, "worst far": 0.0872, "worst frr": 0.0842},
        ),
    ),
    on_real_hearts=True,
    shown=(
        "far",
        "frr",
        "worst far",
        "worst frr",
        "far_left_out",
        "frr_left_out",
        "equal_error",
        "cross_far",
        "cross_frr",
        "cross_far_left_out",
        "cross_frr_left_out",
        "cross_equal_error",
    ),
)
