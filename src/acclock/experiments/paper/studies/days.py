"""Real hearts, days and weeks after enrollment."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="days",
    title="Days apart, on real hearts",
    where="Fig. 23",
    measure="days",
    variants=tuple(
        Variant(name=name, setting=float(stretch), paper=paper)
        for stretch, (name, paper) in enumerate(
            (
                ("1 to 7 days", {"far": 0.032, "frr": 0.032}),
                ("8 to 14 days", {}),
                ("15 to 28 days", {}),
                ("29 to 56 days", {"far": 0.0468, "frr": 0.0444}),
                ("57 days and more", {}),
            )
        )
    ),
    on_simulated=False,
    on_real_hearts=True,
    paired=False,
    shown=("far", "frr", "equal_error"),
    note="Enrolled on the first day alone, mostly 22 windows; each recording is another wearing, so"
    " this holds a change of place too, which the paper's weeks need not. Other people in each"
    " stretch, so nothing is paired. The paper's figures are 'below 3.2 %' up to week 6, and those"
    " of week 8.",
)
