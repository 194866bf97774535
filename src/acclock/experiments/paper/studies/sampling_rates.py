"""Every rate with an encoder of its own."""

from acclock.experiments.paper.variants import VIEWS, Experiment, Variant

EXPERIMENT = Experiment(
    name="sampling-rates",
    title="Sampling rates, each trained anew",
    where="Fig. 28",
    variants=(
        Variant(name="100 Hz", paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="75 Hz", recipe=VIEWS + "rate_hz = 75.0\n"),
        Variant(name="50 Hz", recipe=VIEWS + "rate_hz = 50.0\n"),
        Variant(
            name="25 Hz", recipe=VIEWS + "rate_hz = 25.0\n", paper={"far": 0.0597, "frr": 0.0551}
        ),
    ),
    on_real_hearts=True,
)
