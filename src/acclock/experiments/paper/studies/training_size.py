"""How much of each person the encoder learns from, and how long a window is."""

from acclock.experiments.paper.variants import VIEWS, Experiment, Variant

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


EXPERIMENT = Experiment(
    name="training-size",
    title="Training size and window length",
    where="Fig. 16, Fig. 17",
    variants=tuple(_make(size, length_s) for length_s in _LENGTHS_S for size in _SIZES),
    on_real_hearts=True,
    note="Of the grid, all sizes at 4 s and all lengths at 150 windows; the full scale measures"
    " all 25 cells. Enrolled and tried windows are as long as learned ones, and where somebody has"
    " fewer windows to learn from, all of them are. The paper prints numbers for one cell.",
)
