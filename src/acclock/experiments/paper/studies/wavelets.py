"""What a heartbeat looks like in time and frequency."""

from acclock.experiments.paper.variants import Experiment, Variant

EXPERIMENT = Experiment(
    name="wavelets",
    title="Continuous wavelet pictures of users and sessions",
    where="Fig. 3",
    measure="wavelets",
    variants=(Variant(name="a beat of one second"),),
    on_real_hearts=True,
    in_folds=False,
    paired=False,
    note="The paper shows pictures and no numbers. Here a number stands beside them: how alike the"
    " pictures of twelve beats each are. Real: the first three people in two of whose recordings"
    " beats can be seen.",
)
