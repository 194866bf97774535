"""HIDNet without one part or another, all by the same recipe."""

from acclock.experiments.paper.studies.baselines import NEEDED_EPOCHS, teach
from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="ablations",
    title="Ablations V1 to V5",
    where="Fig. 20",
    variants=tuple(
        Variant(
            name=title,
            recipe=teach(network),
            paper={"far": 0.0313, "frr": 0.0299} if network == "hidnet" else {},
        )
        for network, title in (
            ("hidnet", "the full model"),
            ("v1", "V1, without orthogonality"),
            ("v2", "V2, without reconstruction"),
            ("v3", "V3, without both"),
            ("v4", "V4, without HIDNet"),
            ("v5", "V5, without the Siamese head"),
        )
    ),
    on_real_hearts=True,
    needed_epochs=NEEDED_EPOCHS,
    note="By the fast recipe: band-passed windows of three axes. The paper prints numbers for the"
    " full model only.",
)
