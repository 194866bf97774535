"""The earphone is taken out within the window that is tried."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="removal",
    title="Removal within the window",
    where="Fig. 30",
    measure="removal",
    variants=tuple(
        Variant(
            name=f"second {second} to {second + 1}", setting=second + 0.5, paper={"far": 0.0065}
        )
        for second in range(4)
    ),
    paired=False,
    shown=("far", "gated_far"),
    note="FAR is the share of the owner's own windows with a removal in them that still pass."
    " Gated: as a session sees them, which turns windows with a fault away. The paper says"
    " 'below 0.65 %'.",
)
