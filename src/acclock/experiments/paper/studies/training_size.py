"""How much of each person the encoder learns from."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="training-size",
    title="Training size, windows of 4 s",
    where="Fig. 16, Fig. 17",
    variants=(
        Variant(name="150 windows", learned=150, paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="175 windows", learned=175),
        Variant(name="125 windows", learned=125),
        Variant(name="100 windows", learned=100),
        Variant(name="75 windows", learned=75),
    ),
    on_real_hearts=True,
    note="Windows of 2, 3, 5 and 6 s are not measured: the preparation cuts windows of 4 s.",
)
