"""Pictures of four encoders and ours: whose windows lie beside whose."""

from acclock.experiments.paper.studies.baselines import teach
from acclock.experiments.paper.variants import VIEWS, Experiment, Variant

EXPERIMENT = Experiment(
    name="neighbors",
    title="t-SNE of raw windows and of encoders",
    where="Fig. 11",
    measure="neighbors",
    variants=(
        Variant(name="raw windows", setting=1.0),
        Variant(name="CNN", recipe=teach("cnn")),
        Variant(name="Conformer", recipe=teach("conformer", epochs="slow_epochs")),
        Variant(name="HIDNet", recipe=teach("hidnet")),
        Variant(name="measured views, whitened (shipped)", recipe=VIEWS),
    ),
    on_real_hearts=True,
    in_folds=False,
    paired=False,
    note="People of the first fold, whom no encoder has met, up to 40 windows each. Below the full"
    " scale the Conformer has not converged. The paper shows pictures and no numbers.",
)
