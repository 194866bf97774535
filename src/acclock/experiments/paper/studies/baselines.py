"""Other encoders on the same people and folds, three axes and the same few steps for each."""

from acclock.experiments.paper.variants import VIEWS, Experiment, Variant

STEPS = """
axes = 3
windows_per_person = 32
keep = "last"
[network_stage]
epochs = {epochs}
learning_rate = 2e-3
halved_every = 4
[embedding_stage]
epochs = {epochs}
learning_rate = 2e-3
batch = 256
"""

EXPERIMENT = Experiment(
    name="baselines",
    title="Baselines",
    where="Fig. 19",
    variants=(
        Variant(
            name="HIDNet",
            recipe='base = "paper"' + STEPS,
            paper={"far": 0.0313, "frr": 0.0299},
        ),
        *(
            Variant(name=title, recipe=f'base = "paper"\nnetwork = "{network}"' + STEPS)
            for network, title in (("cnn", "CNN"), ("lstm", "LSTM"), ("conformer", "Conformer"))
        ),
        Variant(
            name="ResNet50",
            recipe='base = "paper"\nnetwork = "resnet50"'
            + STEPS.replace("{epochs}", "{few_epochs}"),
        ),
        Variant(name="measured views, whitened (shipped)", recipe=VIEWS),
    ),
    on_real_hearts=True,
    needed_epochs=100,
    note="Below the full scale no network has converged, so there are no p-values, and ResNet50,"
    " whose steps cost ten times as much, has had the fewest. The paper prints numbers"
    " for HIDNet only.",
)
