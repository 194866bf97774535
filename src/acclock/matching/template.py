"""What is kept of a user: a center, a threshold, and which model made them."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from acclock.errors import ConfigError, ModelError, SignalError
from acclock.matching.centers import are_unit
from acclock.matching.threshold import Rule
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Template:
    """All that is needed to know a user again, and nothing more (docs/decisions/0015)."""

    model: str
    """Which model made the embeddings: another one's cannot be compared."""
    center: FloatArray
    """The user's place among the embeddings, of length one. Read-only."""
    anchor: FloatArray
    """The center when enrollment ended. Updates never lead far from it. Read-only."""
    threshold: float
    """Strictly below this distance a wearer is the user."""
    spread: float
    """The standard deviation of the user's own distances, in the unit of the threshold."""
    user_distances: FloatArray
    """How far each enrolled window lay from the center: numbers, not windows. Read-only."""
    rule: Rule
    goal: int
    """How many windows make the enrollment complete."""
    enrolled: datetime
    updated: datetime
    """When the center last moved; the enrollment, at first."""

    def __post_init__(self) -> None:
        for name in ("center", "anchor", "user_distances"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.center.ndim != 1 or self.center.shape != self.anchor.shape:
            raise SignalError("a template's center and anchor are two vectors of one width")
        if not (are_unit(self.center) and are_unit(self.anchor)):
            raise SignalError("a template's center and anchor have length one")
        if not np.isfinite(self.user_distances).all() or self.user_distances.size < 2:
            raise SignalError("a template knows at least two finite distances of its user")
        if not (np.isfinite(self.threshold) and self.spread >= 0):
            raise SignalError("a template's threshold and spread are finite numbers")
        if self.enrolled.tzinfo is None or self.updated.tzinfo is None:
            raise ConfigError("the times of a template need their time zone")

    @property
    def windows(self) -> int:
        """How many windows were enrolled."""
        return int(self.user_distances.size)

    @property
    def growing(self) -> bool:
        """Whether enrollment goes on in the background."""
        return self.windows < self.goal

    def require(self, model: str) -> None:
        """Refuse embeddings of another model."""
        if model != self.model:
            raise ModelError(
                f"the template was made by model {self.model}, the embeddings by {model}: "
                "`acclock migrate` carries it over where recordings were kept; else enroll again"
            )
