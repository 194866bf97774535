"""Other encoders on the same people and folds, by one recipe."""

from acclock.experiments.paper.variants import VIEWS, Experiment, Variant

NEEDED_EPOCHS = 30
"""Of HIDNet and the CNN, to which twice as many gave nothing (``python -m benchmarks.epochs``)."""


def teach(network: str, *, epochs: str = "epochs", axes: int = 3) -> str:
    """Give the fast recipe for a network, with as many epochs as the scale has for it."""
    stage = f"epochs = {{{epochs}}}\nhalved_every = 20"
    return (
        f'base = "fast"\nnetwork = "{network}"\naxes = {axes}\nkeep = "last"\n'
        f"[network_stage]\n{stage}\n[embedding_stage]\n{stage}\n"
    )


EXPERIMENT = Experiment(
    name="baselines",
    title="Baselines",
    where="Fig. 19",
    variants=(
        Variant(name="HIDNet", recipe=teach("hidnet"), paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="CNN", recipe=teach("cnn")),
        Variant(name="LSTM", recipe=teach("lstm", epochs="slow_epochs")),
        Variant(name="Conformer", recipe=teach("conformer", epochs="slow_epochs")),
        Variant(name="ResNet50", recipe=teach("resnet50", epochs="few_epochs")),
        Variant(name="measured views, whitened (shipped)", recipe=VIEWS),
    ),
    on_real_hearts=True,
    needed_epochs=NEEDED_EPOCHS,
    note="By the fast recipe: band-passed windows of three axes. Below the full scale LSTM,"
    " Conformer and ResNet50, whose steps cost ten to fifty times as much, have had few epochs and"
    " not converged: they have no p-values. The paper prints numbers for HIDNet only.",
)
