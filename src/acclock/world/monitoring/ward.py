"""The person whose session is watched over: what the vault knows of them, now and later."""

from contextlib import suppress
from typing import Literal

import numpy as np

from acclock.errors import NameRefusedError, VaultError
from acclock.matching.growth import grow
from acclock.matching.template import Template
from acclock.matching.update import update
from acclock.pipeline import Preparation
from acclock.session.policies import Policy
from acclock.session.session import Session
from acclock.values import FloatArray
from acclock.world.desk import Desk
from acclock.world.sources.source import Source

News = Literal["none", "changed", "gone"]

FEWEST = 10
"""Windows that it takes to learn anything from them."""


class Ward:
    """Somebody in a vault. ``is_known``, ``look`` and ``learn`` read the disk: use a thread."""

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk = desk
        self._person = desk.vault.person(name)
        self._template = desk.vault.template(name)
        self.preparation = Preparation.of(desk.embedder.card)

    @property
    def name(self) -> str:
        """The name as it was enrolled."""
        return self._person.name

    @property
    def template(self) -> Template:
        return self._template

    def open_session(self, policy: Policy) -> Session:
        """Give a session, locked, that knows the person by their newest template."""
        return Session(
            self._template,
            self._desk.cohort,
            self.preparation,
            self.embed,
            policy,
            person=self.name,
        )

    def require(self, source: Source) -> None:
        """Refuse a source that samples too rarely for the model."""
        self._desk.embedder.card.require_sampled(source.rate_hz)

    def embed(self, windows: FloatArray) -> FloatArray:
        """Give the embeddings of windows ``(batch, 3, n)``."""
        return self._desk.embedder.embed(windows[:, : self._desk.embedder.card.axes])

    def is_known(self) -> bool:
        """See whether the person is still there, and change nothing."""
        try:
            return self._desk.vault.person(self.name).person == self._person.person
        except NameRefusedError:
            return False

    def look(self) -> News:
        """See whether the person is still there, and take their newest template."""
        try:
            person = self._desk.vault.person(self.name)
            # somebody removed and enrolled again under the same name is another person
            if person.person != self._person.person:
                return "gone"
            if person.version <= self._person.version:  # learning may have been faster
                return "none"
            self._template = self._desk.vault.template(self.name, person.version)
        except NameRefusedError:
            return "gone"
        self._person = person
        return "changed"

    def learn(self, windows: tuple[FloatArray, ...]) -> bool:
        """Let the template grow, or follow its user, by windows of open sessions.

        Each change is a version in the vault. What the vault refuses, because somebody else was
        faster, is not learned.
        """
        if len(windows) < FEWEST:
            return False
        rows, now, known = np.stack(windows), self._desk.vault.clock(), self._template
        kind = "grown" if known.growing else "updated"
        if known.growing:
            learned = grow(known, rows, cohort=self._desk.cohort, now=now)
        else:
            learned = update(known, rows, cohort=self._desk.cohort, now=now).template
        if learned is known:
            return False
        with suppress(VaultError):
            self._person = self._desk.vault.revise(
                self.name, learned, after=self._person.version, kind=kind
            )
            self._template = learned
            return True
        return False
