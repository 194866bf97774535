"""What a model says about itself. The card travels inside the model file, as JSON."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Literal, Self, get_args

from acclock.errors import ModelError

FORMAT = 1
"""Of the card and of what lies around it; a file of another format is refused."""
_LEAST_SAMPLED = 0.7
"""Of the model's rate: phones that sample at 73 Hz were among those that models learned from."""
CARD_KEY = "acclock.card"
"""Under which name a model file carries its card."""

Precision = Literal["float32", "float16", "int8"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Everything that must be known to use a model rightly, and to trust it no further."""

    name: str
    version: str
    network: str
    """The name under which the network is built, as ``hidnet``."""
    config: Mapping[str, object]
    """The network's sizes."""
    rate_hz: float
    axes: int
    window_length: int
    """Samples per axis in one window."""
    embedding_width: int
    preparation: str
    """The name of what turned acceleration into the windows that the network learned from."""
    denoiser: str
    """Fingerprint of that preparation with all its settings."""
    training_data: tuple[str, ...]
    """What the network learned from, one line per source with its license."""
    people: tuple[str, ...]
    """Whom the network learned from, as :func:`hash_person` gives them."""
    license: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    precision: Precision = "float32"
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ModelError(f"the model has format {self.format!r}; this reads format {FORMAT}")
        if not (self.rate_hz > 0 and min(self.axes, self.window_length, self.embedding_width) > 0):
            raise ModelError("the model's rate, axes, window length and width are not all positive")
        if self.precision not in get_args(Precision):
            raise ModelError(f"the model has an unknown precision, {self.precision!r}")

    def learned_from(self, person: str) -> bool:
        """Tell whether this person's windows were used in training."""
        return hash_person(person) in self.people

    def require(self, *, rate_hz: float, preparation: str | None = None) -> None:
        """Refuse windows of another rate or preparation than the model learned from."""
        if rate_hz != self.rate_hz:
            raise ModelError(
                f"the model was made for {self.rate_hz:g} Hz; these windows are at {rate_hz:g} Hz"
            )
        if preparation is not None and preparation != self.preparation:
            raise ModelError(
                f"the model learned from windows prepared by {self.preparation!r};"
                f" these come from {preparation!r}"
            )

    def require_sampled(self, sampled_hz: float) -> None:
        """Refuse a sensor that samples too rarely: what the model reads is not in its signal.

        Everybody would lie in one place there, far from the strangers whom thresholds were
        chosen by, and would be taken for the user.
        """
        if sampled_hz < least_sampled_hz(self.rate_hz):
            raise ModelError(
                f"the model was made for {self.rate_hz:g} Hz; these samples were taken at"
                f" {sampled_hz:.4g} Hz, too rarely for it: whoever enrolls with this sensor gets a"
                " model made for such a rate"
            )

    def to_json(self) -> str:
        """Write the card as text, the same for equal cards."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a card, or say what is wrong with it."""
        try:
            told = json.loads(text)
            # The format comes first: another one may have other fields.
            if told["format"] != FORMAT:
                raise ModelError(f"the model has format {told['format']!r}; this reads {FORMAT}")
            lists = {name: tuple(told[name]) for name in ("training_data", "people")}
            return cls(**{one.name: told[one.name] for one in fields(cls)} | lists)
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"the model's card cannot be read: {error}") from error


def least_sampled_hz(rate_hz: float) -> float:
    """Give how often a sensor must sample for a model that was made for ``rate_hz``.

    >>> least_sampled_hz(25.0)
    17.5
    """
    return _LEAST_SAMPLED * rate_hz


def hash_person(person: str) -> str:
    """Give a person's name in a form that can be recognized but not read back.

    >>> hash_person("mscardio/Subject_0001")
    '93325b7181293ee9'
    """
    return hashlib.sha256(person.encode()).hexdigest()[:16]
