"""The person whose session is watched over: what the vault knows of them, now and later."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from acclock.errors import NameRefusedError, VaultError
from acclock.live.policies import Policy
from acclock.live.session import Session
from acclock.matching.template import Template
from acclock.matching.update import grow, update
from acclock.models.catalog import LoadedModel
from acclock.recognizer import Recognizer
from acclock.sources.source import Source
from acclock.values import FloatArray
from acclock.vault.people import VaultPerson

TemplateChange = Literal["none", "changed", "gone"]

FEWEST = 10
"""Windows that it takes to learn anything from them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EnrolledVersion:
    """A version of somebody in the vault: their template, and the model that made it."""

    person: VaultPerson
    template: Template
    model: LoadedModel

    def open_session(self, policy: Policy) -> Session:
        """Give a session, locked, that knows the person by this template."""
        model = self.model
        return Session(
            self.template,
            model.cohort,
            model.preparation,
            model.embed,
            policy,
            person=self.person.name,
        )

    def require(self, source: Source) -> None:
        """Refuse a source that samples too rarely for the model."""
        self.model.card.require_sampled(source.rate_hz)


class EnrolledUser:
    """Somebody in a vault. ``is_known``, ``look`` and ``learn`` read the disk: use a thread."""

    def __init__(self, recognizer: Recognizer, name: str) -> None:
        self._recognizer = recognizer
        template = recognizer.vault.template(name)
        self.newest = EnrolledVersion(
            person=recognizer.vault.person(name),
            template=template,
            model=recognizer.models.made(template.model),
        )
        """The newest version that was seen; replaced as a whole, as other threads read it."""

    @property
    def name(self) -> str:
        """The name as it was enrolled."""
        return self.newest.person.name

    @property
    def template(self) -> Template:
        return self.newest.template

    def is_known(self) -> bool:
        """See whether the person is still there, and change nothing."""
        try:
            return self._recognizer.vault.person(self.name).person == self.newest.person.person
        except NameRefusedError:
            return False

    def look(self) -> TemplateChange:
        """See whether the person is still there, and take their newest template."""
        try:
            person = self._recognizer.vault.person(self.name)
            # somebody removed and enrolled again under the same name is another person
            if person.person != self.newest.person.person:
                return "gone"
            if person.version <= self.newest.person.version:  # learning may have been faster
                return "none"
            template = self._recognizer.vault.template(self.name, person.version)
        except NameRefusedError:
            return "gone"
        model = self._recognizer.models.made(template.model)
        self.newest = EnrolledVersion(person=person, template=template, model=model)
        return "changed"

    def learn(self, windows: tuple[FloatArray, ...]) -> bool:
        """Let the template grow, or follow its user, by windows of open sessions.

        Each change is a version in the vault. What the vault refuses, because somebody else was
        faster, is not learned.
        """
        if len(windows) < FEWEST:
            return False
        rows, now, known = np.stack(windows), self._recognizer.vault.clock(), self.template
        kind, cohort = "grown" if known.growing else "updated", self.newest.model.cohort
        if known.growing:
            learned = grow(known, rows, cohort=cohort, now=now)
        else:
            learned = update(known, rows, cohort=cohort, now=now).template
        if learned is known:
            return False
        with suppress(VaultError):
            before = self.newest
            person = self._recognizer.vault.revise(
                self.name, learned, after=before.person.version, kind=kind
            )
            self.newest = replace(before, person=person, template=learned)
            return True
        return False
