"""Hearts that beat otherwise, of people nobody learned from."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="conditions",
    title="Heart conditions",
    where="Fig. 27",
    variants=(
        Variant(name="healthy", paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="bradycardia", condition="bradycardia"),
        Variant(name="tachycardia", condition="tachycardia"),
        Variant(name="coronary heart disease", condition="coronary"),
        Variant(name="premature beats", condition="premature"),
    ),
    paired=False,
    note="Five people with each condition in each fold, all learned from healthy people; strangers"
    " have the same condition. Other people than the healthy ones, so nothing is paired. The"
    " paper prints no numbers for the conditions.",
)
