"""How much work an experiment may be."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

from acclock.errors import ConfigError

_EPOCHS = ("epochs", "slow_epochs", "few_epochs")
"""What a recipe may leave to the scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many people, for how long, how often."""

    name: str
    people: int
    """Simulated ones."""
    sessions: int
    session_s: float
    """Of each simulated session; all together are the windows that enroll and are tried."""
    tested_s: float
    """Of each session under another condition."""
    real_people: int | None
    """Of a data set, the first so many; all when not given."""
    seeds: tuple[int, ...]
    """Each draws other simulated people, other folds and other thirds."""
    epochs: int
    """Of a network that learns step by step."""
    slow_epochs: int
    """Of a Conformer and an LSTM, whose steps cost as much as ten of the others."""
    few_epochs: int
    """Of a ResNet50, whose steps cost as much as fifty."""
    whole_grids: bool = False
    """Whether every cell of a grid is measured, or a row and a column of it."""
    is_result: bool = True
    """Whether the figures say anything; those of a smoke test do not."""

    def __post_init__(self) -> None:
        if self.people < 6 or self.sessions < 2 or not self.seeds:
            raise ConfigError(
                "a scale has six people, two sessions and a seed at least,"
                f" not {self.people}, {self.sessions} and {len(self.seeds)}"
            )

    @property
    def config(self) -> dict[str, object]:
        """What decides the outcome of every unit; epochs are told in the recipes that have any."""
        hidden = ("name", *_EPOCHS, "whole_grids", "is_result")
        return {name: value for name, value in asdict(self).items() if name not in hidden}

    def fill_in(self, recipe: str) -> str:
        """Give a recipe with its epochs."""
        for name in _EPOCHS:
            recipe = recipe.replace(f"{{{name}}}", str(getattr(self, name)))
        return recipe

    def count_epochs(self, recipe: str) -> int | None:
        """Say for how many epochs a recipe learns here; nothing when it has none to fill in."""
        return next((getattr(self, name) for name in _EPOCHS if f"{{{name}}}" in recipe), None)


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            Scale(
                name="quick",
                people=9,
                sessions=2,
                session_s=60.0,
                tested_s=24.0,
                real_people=12,
                seeds=(0,),
                epochs=1,
                slow_epochs=1,
                few_epochs=1,
                is_result=False,
            ),
            Scale(
                name="standard",
                people=33,
                sessions=4,
                session_s=240.0,
                tested_s=60.0,
                real_people=None,
                seeds=(0,),
                epochs=30,
                slow_epochs=4,
                few_epochs=1,
            ),
            Scale(
                name="full",
                people=33,
                sessions=4,
                session_s=240.0,
                tested_s=240.0,
                real_people=None,
                seeds=(0, 1, 2),
                epochs=100,
                slow_epochs=100,
                few_epochs=100,
                whole_grids=True,
            ),
        )
    }
)
"""``quick`` is a smoke test; ``standard`` has the paper's people and windows and is planned for two
cores: of a grid it measures a row and a column, and its slowest networks do not converge; ``full``
has whole grids and the paper's epochs too, for a bigger machine."""
