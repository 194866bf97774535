"""What the encoder is, what it learns from, and how much an enrollment needs."""

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


BASELINES = Experiment(
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


USERS = Experiment(
    name="users",
    title="FAR and FRR per user",
    where="Fig. 14, Fig. 15",
    variants=(
        Variant(
            name="still",
            paper={"far": 0.0313, "frr": 0.0299, "worst far": 0.0872, "worst frr": 0.0842},
        ),
    ),
    on_real_hearts=True,
    shown=(
        "far",
        "frr",
        "worst far",
        "worst frr",
        "far_left_out",
        "frr_left_out",
        "equal_error",
        "cross_far",
        "cross_frr",
        "cross_far_left_out",
        "cross_frr_left_out",
        "cross_equal_error",
    ),
)


ABLATIONS = Experiment(
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


NEIGHBORS = Experiment(
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


_USUAL = (150, 4)
_SIZES = (150, 175, 125, 100, 75)
_LENGTHS_S = (4, 2, 3, 5, 6)


def _make(size: int, length_s: int) -> Variant:
    return Variant(
        name=f"{size} windows of {length_s} s",
        learned=size,
        recipe=VIEWS if length_s == _USUAL[1] else f"{VIEWS}window_s = {length_s}.0\n",
        paper={"far": 0.0313, "frr": 0.0299} if (size, length_s) == _USUAL else {},
        in_corner=size != _USUAL[0] and length_s != _USUAL[1],
    )


TRAINING_SIZE = Experiment(
    name="training-size",
    title="Training size and window length",
    where="Fig. 16, Fig. 17",
    variants=tuple(_make(size, length_s) for length_s in _LENGTHS_S for size in _SIZES),
    on_real_hearts=True,
    note="Of the grid, all sizes at 4 s and all lengths at 150 windows; the full scale measures"
    " all 25 cells. Enrolled and tried windows are as long as learned ones, and where somebody has"
    " fewer windows to learn from, all of them are. The paper prints numbers for one cell.",
)


SAMPLING_RATES = Experiment(
    name="sampling-rates",
    title="Sampling rates, each trained anew",
    where="Fig. 28",
    variants=(
        Variant(name="100 Hz", paper={"far": 0.0313, "frr": 0.0299}),
        Variant(name="75 Hz", recipe=VIEWS + "rate_hz = 75.0\n"),
        Variant(name="50 Hz", recipe=VIEWS + "rate_hz = 50.0\n"),
        Variant(
            name="25 Hz", recipe=VIEWS + "rate_hz = 25.0\n", paper={"far": 0.0597, "frr": 0.0551}
        ),
    ),
    on_real_hearts=True,
)


REGISTRATION = Experiment(
    name="registration",
    title="Registration samples, and the light start of 30",
    where="Fig. 18",
    variants=(
        Variant(name="80 windows", enrolled=80, paper={"far": 0.03, "frr": 0.03}),
        Variant(name="60 windows", enrolled=60),
        Variant(name="40 windows", enrolled=40),
        Variant(name="30 windows", enrolled=30, paper={"far": 0.0283, "frr": 0.0752}),
        Variant(name="22 windows", enrolled=22, paper={"far": 0.10, "frr": 0.10}),
        Variant(name="10 windows", enrolled=10),
        Variant(name="5 windows", enrolled=5),
    ),
    on_real_hearts=True,
    shown=("far", "frr", "far_left_out", "frr_left_out", "equal_error"),
    note="Where a third of a person's windows are fewer, that third enrolls. The paper says 'about"
    " 3 %' at 80 and 'below 10 %' above 22.",
)
