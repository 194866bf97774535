"""How far the earphone is turned since enrollment, with one axis and with three."""

from acclock.experiments.paper.variants import VIEWS, Experiment, Variant

_ONE = {0: {"far": 0.0313, "frr": 0.0299}, 90: {"far": 0.0896, "frr": 0.0860}}
_THREE = {90: {"far": 0.0358, "frr": 0.0519}}


def _turn(name: str, paper: dict[int, dict[str, float]], recipe: str) -> list[Variant]:
    return [
        Variant(
            name=f"{name}, {angle} degrees",
            scene={"angle_deg": float(angle)},
            recipe=recipe,
            paper=paper.get(angle, {}),
        )
        for angle in (0, 30, 60, 90)
    ]


EXPERIMENT = Experiment(
    name="angles",
    title="Earphone angles, one axis and three",
    where="Fig. 24",
    variants=(
        *_turn("three axes", _THREE, VIEWS),
        *_turn("one axis", _ONE, VIEWS + "axes = 1\n"),
    ),
    on_real_hearts=True,
    paired=False,
    note="Enrolled at 0 degrees, tried turned. The paper's three axes are weighed by attention;"
    " here they are measured together with how they follow each other. Real recordings are turned"
    " afterwards, about the axis that leaves the chest.",
)
