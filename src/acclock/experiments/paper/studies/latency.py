"""How long a window takes, block by block, and what an hour of wearing costs."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="latency",
    title="Latency per block, and cost",
    where="Tab. 3",
    measure="latency",
    variants=(
        Variant(
            name="the shipped model at 100 Hz",
            paper={
                "denoising, ms": 0.47,
                "features, ms": 8.63,
                "deciding, ms": 0.03,
                "sum, ms": 9.13,
                "share of a core at 10 decisions a second, %": 2.5,
            },
        ),
    ),
    in_folds=False,
    paired=False,
    note="Times are medians of processor time on whatever machine ran it, beside the paper's"
    " laptop; the share of a core stands beside its phone. Radio bytes stand for the"
    " earphone's 1.67 mAh/h, which cannot be measured here. Memory and the other rates are not"
    " measured.",
)
