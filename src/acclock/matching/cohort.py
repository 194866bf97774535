"""People who are not the user, known only by their embeddings."""

from dataclasses import dataclass

from acclock.errors import SignalError, TooFewError
from acclock.matching.centers import are_unit, as_rows
from acclock.values import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cohort:
    """Embeddings of strangers, made by one model: what an enrollment is measured against."""

    embeddings: FloatArray
    """Unit vectors in rows. Read-only."""
    model: str
    """Which model made them. Templates made with this cohort carry its name."""

    def __post_init__(self) -> None:
        embeddings = as_rows(self.embeddings).copy()
        if embeddings.shape[0] == 0:
            raise TooFewError(what="embeddings in the cohort", have=0, need=1)
        if not are_unit(embeddings).all():
            raise SignalError("a cohort holds finite vectors of length one; not all of these are")
        embeddings.flags.writeable = False
        object.__setattr__(self, "embeddings", embeddings)

    def __len__(self) -> int:
        return int(self.embeddings.shape[0])
