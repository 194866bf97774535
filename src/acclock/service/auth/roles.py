"""Who may do what."""

from dataclasses import dataclass
from typing import Literal

from acclock.service.refusals import RefusedError

Role = Literal["device", "viewer", "operator", "relying-party"]
"""``device``: streams for one person. ``viewer``: sees everybody. ``relying-party``: asks how one
person's session stands. ``operator``: everything, numbers included."""

ROLES: tuple[Role, ...] = ("device", "viewer", "operator", "relying-party")
BOUND: frozenset[Role] = frozenset({"device", "relying-party"})
"""Roles whose tokens are for one person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls, as their token says."""

    token: str
    """The number of the token, not the token."""
    role: Role
    person: str | None = None
    """The number of the one person whom it is about."""
    may_grant: bool = False

    @property
    def is_operator(self) -> bool:
        return self.role == "operator"

    def require(self, *roles: Role) -> None:
        """Refuse everybody but these, and the operator."""
        if self.role not in ("operator", *roles):
            raise RefusedError(403, "forbidden", f"a {self.role} token may not do this")

    def require_person(self, person: str) -> None:
        """Refuse whoever is bound to somebody else."""
        if self.role in BOUND and self.person != person:
            raise RefusedError(403, "other_person", "this token is for somebody else")
