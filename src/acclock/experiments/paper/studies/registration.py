"""How many windows an enrollment needs."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="registration",
    title="Registration samples, and the light start of 30",
    where="Fig. 18",
    variants=(
        Variant(name="80 windows", enrolled=80, paper={"far": 0.03, "frr": 0.03}),
        Variant(name="60 windows", enrolled=60),
        Variant(name="40 windows", enrolled=40),
        Variant(name="30 windows", enrolled=30, paper={"far": 0.0283, "frr": 0.0752}),
        Variant(name="22 windows", enrolled=22, paper={"far": 0.10, "frr": 0.10}),
        Variant(name="10 windows", enrolled=10),
        Variant(name="5 windows", enrolled=5),
    ),
    on_real_hearts=True,
    shown=("far", "frr", "far_left_out", "frr_left_out", "equal_error"),
    note="Where a third of a person's windows are fewer, that third enrolls. The paper says 'about"
    " 3 %' at 80 and 'below 10 %' above 22.",
)
