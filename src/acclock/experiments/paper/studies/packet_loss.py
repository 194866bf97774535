"""Samples that never arrive, with and without having learned from such."""

from acclock.experiments.paper.variants import Experiment, Variant

_PAPER: dict[int, dict[str, float]] = {
    0: {"far": 0.0313, "frr": 0.0299},
    10: {},
    20: {},
    30: {"far": 0.0549, "frr": 0.0541},
}


EXPERIMENT = Experiment(
    name="packet-loss",
    title="Packet loss in registration and testing",
    where="Fig. 29",
    variants=(
        *(
            Variant(name=f"{percent} %, learned", lost=percent / 100, learns_lost=True, paper=paper)
            for percent, paper in _PAPER.items()
        ),
        *(Variant(name=f"{percent} %, not learned", lost=percent / 100) for percent in _PAPER),
    ),
    on_real_hearts=True,
    note="Holes are mended before the band-pass, where the paper leaves zeros.",
)
