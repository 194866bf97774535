"""Another factor's word that the user is here. Its signature was checked before it came here."""

from dataclasses import dataclass

from acclock.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Opens the session of one person, until it expires on the session's own clock."""

    person: str
    expires_s: float

    def __post_init__(self) -> None:
        if not self.person or self.expires_s != self.expires_s:
            raise ConfigError("a grant names a person and a time at which it expires")
