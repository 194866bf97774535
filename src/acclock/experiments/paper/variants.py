"""What an experiment varies, and what the paper found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from acclock.errors import ConfigError
from acclock.simulation import Condition

FOLDS = 3
_NO_MATTER = ("paper", "in_corner", "only_simulated")
"""What is said of a variant without deciding what comes out."""
VIEWS = 'base = "views"\n'
"""The recipe of the encoder that ships (docs/decisions/0030)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One bar of a figure. What is not said is as in the main experiment."""

    name: str
    paper: Mapping[str, float] = field(default_factory=dict)
    """The paper's figures by what was measured; shares, not percent."""
    recipe: str = VIEWS
    """How the encoder is trained, as TOML; ``{epochs}`` is the scale's."""
    scene: Mapping[str, str | float] = field(default_factory=dict)
    """How the windows that are tried differ from those that enrolled."""
    condition: Condition = "healthy"
    enrolled: int | None = None
    """Windows of an enrollment; a third of all when not given."""
    also_enrolled: int = 0
    """Windows under the condition that are enrolled beside the others."""
    learned: int | None = None
    """Windows of a person to learn from; all when not given."""
    lost: float = 0.0
    """Share of the samples that enroll and are tried which never arrive."""
    learns_lost: bool = False
    """Whether samples are missing in training too, up to 30 %."""
    setting: float = 0.0
    """For measures that have one number to set."""
    drift_budget: float | None = None
    """How far updates may lead a template away, in thresholds; as far as usual when not given."""
    only_simulated: bool = False
    """Whether recordings of people at rest cannot answer it, even where they can the others."""
    in_corner: bool = False
    """A cell off the cross of a grid: measured only where the scale fills whole grids."""

    def __post_init__(self) -> None:
        if not 0 <= self.lost < 1:
            raise ConfigError(f"the share that is lost lies between 0 and 1, not {self.lost}")
        if self.enrolled is not None and self.enrolled < 2:
            raise ConfigError(f"two windows enroll at least, not {self.enrolled}")

    @property
    def config(self) -> dict[str, object]:
        """All that decides what comes out: what is said here and is not the paper's figures.

        What is not said is left out, so that a variant keeps its name when there is more to vary.
        """
        usual = asdict(Variant(name=""))
        told = {name: value for name, value in asdict(self).items() if value != usual[name]}
        return {name: value for name, value in told.items() if name not in _NO_MATTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure or table of the paper."""

    name: str
    title: str
    where: str
    """Figure, table or section of the paper."""
    variants: tuple[Variant, ...]
    measure: str = "rates"
    """The file in ``measures`` that does it."""
    version: int = 1
    """Raised when what is measured changes: older results are then measured again."""
    on_simulated: bool = True
    """Whether people who do not exist can answer it."""
    on_real_hearts: bool = False
    """Whether a data set of people at rest can answer it."""
    needs_motions: bool = False
    """Whether recorded hearts answer it only together with recorded heads that move."""
    in_folds: bool = True
    """Whether it is measured once for each fold, or once."""
    paired: bool = True
    """Whether the first variant is compared with each of the others, person by person."""
    needed_epochs: int = 0
    """Below which a network has not converged, and is compared with no other."""
    shown: tuple[str, ...] = ("far", "frr", "equal_error", "cross_far", "cross_frr")
    """Which rates of people a report shows; all of them are kept."""
    note: str = ""
    """What must be known to read the figures."""

    def variant(self, name: str) -> Variant:
        """Give the variant of a name."""
        return next(one for one in self.variants if one.name == name)

    def choose(self, real: bool, *, whole_grids: bool) -> tuple[Variant, ...]:
        """Give the variants that are measured: of a grid all cells, or a row and a column."""
        return tuple(
            one
            for one in self.variants
            if (whole_grids or not one.in_corner) and not (real and one.only_simulated)
        )

    def count_units(self, real: bool, *, seeds: int, whole_grids: bool) -> int:
        """Say into how many units it is cut."""
        chosen = self.choose(real, whole_grids=whole_grids)
        return len(chosen) * seeds * (FOLDS if self.in_folds else 1)
