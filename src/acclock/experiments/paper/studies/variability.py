"""How beats vary within a session, between sessions, people and devices."""

from acclock.experiments.paper.variants import Experiment, Variant


def _setting(
    name: str, mean: float, spread: float, *intervals_ms: float, recorded: bool = True
) -> Variant:
    intervals = zip(("H", "I", "L"), intervals_ms, strict=True)
    return Variant(
        name=name,
        only_simulated=not recorded,
        paper={
            "correlation, mean": mean,
            "correlation, spread": spread,
            **{f"J-{point}, spread in ms": value for point, value in intervals},
        },
    )


EXPERIMENT = Experiment(
    name="variability",
    title="Waveform and fiducial variability",
    where="Tab. 1, Tab. 2",
    measure="variability",
    variants=(
        _setting("within a session", 0.83, 0.11, 6.3, 5.0, 4.7),
        _setting("between sessions", 0.80, 0.09, 8.6, 7.2, 7.9),
        _setting("between people", 0.02, 0.31, 22.0, 18.1, 20.7),
        _setting("between devices", 0.73, 0.11, 30.1, 20.2, 21.5, recorded=False),
    ),
    on_real_hearts=True,
    in_folds=False,
    paired=False,
    note="The simulator was made to match these two tables, so its column shows how well it does"
    " and confirms nothing (docs/simulator.md). On real hearts: the axis out of the chest; within a"
    " session the first recording of everybody, between sessions all pairs of recordings of a"
    " person, and of everybody five windows between people, who each had a phone of their own."
    " The detector's points are those of a ballistocardiogram; on a chest they are its nearest"
    " likeness.",
)
