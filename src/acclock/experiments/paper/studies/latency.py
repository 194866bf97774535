"""How long a window takes, block by block and rate by rate."""

from acclock.experiments.paper.variants import VIEWS, Experiment, Variant


def _blocks(denoising: float, features: float, deciding: float, total: float) -> dict[str, float]:
    return {
        "denoising, ms": denoising,
        "features, ms": features,
        "deciding, ms": deciding,
        "sum, ms": total,
    }


EXPERIMENT = Experiment(
    name="latency",
    title="Latency per block",
    where="Tab. 3",
    measure="latency",
    version=2,
    variants=(
        Variant(
            name="the shipped model at 100 Hz", setting=1.0, paper=_blocks(0.47, 8.63, 0.03, 9.13)
        ),
        Variant(
            name="75 Hz", recipe=VIEWS + "rate_hz = 75.0\n", paper=_blocks(0.60, 24.92, 0.06, 25.58)
        ),
        Variant(
            name="50 Hz", recipe=VIEWS + "rate_hz = 50.0\n", paper=_blocks(0.41, 22.70, 0.03, 23.14)
        ),
        Variant(
            name="25 Hz", recipe=VIEWS + "rate_hz = 25.0\n", paper=_blocks(0.23, 21.17, 0.03, 21.43)
        ),
        Variant(
            name="the paper's chain and HIDNet at 100 Hz",
            recipe='base = "paper"\n',
            paper=_blocks(0.47, 8.63, 0.03, 9.13),
        ),
    ),
    in_folds=False,
    paired=False,
    note="Medians of processor time on whatever machine ran it. The paper's figures at 100 Hz are"
    " of a laptop, those at other rates of a phone. The paper's text says 23.58 ms at 75 Hz where"
    " its table says 25.58.",
)
