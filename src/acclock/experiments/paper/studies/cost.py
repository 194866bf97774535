"""What an hour of wearing costs."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="cost",
    title="Cost of an hour of wearing",
    where="Sec. 7.6.2",
    measure="cost",
    variants=(
        Variant(
            name="10 decisions a second",
            setting=0.1,
            paper={"share of a core, %": 2.5, "resident memory, MB": 139.0},
        ),
        Variant(name="2 decisions a second, as shipped", setting=0.5),
    ),
    in_folds=False,
    paired=False,
    note="A whole session in a process of its own, with quality, removal and the sequential test,"
    " on whatever machine ran it; the paper's share and memory are of a phone that decides every"
    " 100 ms. Radio bytes stand for the earphone's 1.67 mAh/h, which cannot be measured here.",
)
