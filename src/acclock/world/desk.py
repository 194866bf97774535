"""Where people are enrolled and recognized: one model, its cohort, and a vault."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from acclock.embedding.embedder import Embedder
from acclock.matching.coaching import Enrollment, Progress, finish, push, report
from acclock.matching.cohort import Cohort
from acclock.matching.growth import extend
from acclock.matching.identification import Identification
from acclock.matching.rule import rule_named
from acclock.matching.update import Update, update
from acclock.matching.verdict import Verdict
from acclock.matching.verification import verify
from acclock.values import Recording
from acclock.world.models.cohorts import cohort_path, read_cohort
from acclock.world.models.files import find_model, read_model
from acclock.world.vault.identifier import Identifier
from acclock.world.vault.people import Person
from acclock.world.vault.vault import Vault
from acclock.world.wearing import observe

DEFAULT_MODEL = "default"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Enrolled:
    """Somebody who is now known, and how well that went."""

    person: Person
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Desk:
    """Enrolls and recognizes people. Made by :func:`open_desk`."""

    vault: Vault
    embedder: Embedder
    cohort: Cohort

    def enroll(
        self,
        name: str,
        recordings: Sequence[Recording],
        *,
        rule: str | None = None,
        keep: bool = False,
        consent: str | None = None,
    ) -> Enrolled:
        """Make somebody known from recordings of them alone, or store nothing.

        The threshold is chosen by the rule of that name, or as is usual with this cohort.
        """
        enrollment = Enrollment()
        for recording in recordings:
            enrollment = _push_all(enrollment, recording, self.embedder)
        chosen = None if rule is None else rule_named(rule)
        template = finish(enrollment, cohort=self.cohort, now=datetime.now(UTC), rule=chosen)
        kept = recordings if keep else ()
        person = self.vault.add(name, template, keep=kept, consent=consent)
        return Enrolled(person=person, progress=report(enrollment, cohort=self.cohort, rule=chosen))

    def verify(self, name: str, recording: Recording) -> Verdict:
        """Tell whether the wearer of a recording is this person."""
        template = self.vault.template(name)
        template.require(self.cohort.model)
        worn = observe(recording, self.embedder)
        return verify(template, worn.embeddings, faults=worn.faults, cohort=self.cohort)

    def identify(self, recording: Recording) -> Identification:
        """Tell who of the enrolled the wearer is, or that it is none of them."""
        worn = observe(recording, self.embedder)
        people = Identifier(self.vault, model=self.cohort.model)
        return people.identify(worn.embeddings, faults=worn.faults, cohort=self.cohort)

    def update(self, name: str, recordings: Sequence[Recording]) -> Update:
        """Let a template follow its user by the windows that are clearly theirs."""
        person, template = self.vault.person(name), self.vault.template(name)
        windows = np.vstack([observe(recording, self.embedder).good for recording in recordings])
        moved = update(template, windows, cohort=self.cohort, now=datetime.now(UTC))
        if moved.changed:
            self.vault.revise(name, moved.template, after=person.version)
        return moved

    def extend(self, name: str, recordings: Sequence[Recording]) -> Person:
        """Add windows that the user recorded on purpose, as of talking."""
        person, template = self.vault.person(name), self.vault.template(name)
        windows = np.vstack([observe(recording, self.embedder).good for recording in recordings])
        now = datetime.now(UTC)
        longer = extend(template, windows, cohort=self.cohort, now=now)
        return self.vault.revise(name, longer, after=person.version, kind="extended")


def open_desk(vault: Vault, *, model: str = DEFAULT_MODEL) -> Desk:
    """Load a model with its cohort and put them beside a vault."""
    path = find_model(model)
    embedder = Embedder(read_model(path))
    cohort = read_cohort(cohort_path(Path(path)), model=embedder.fingerprint)
    return Desk(vault=vault, embedder=embedder, cohort=cohort)


def _push_all(enrollment: Enrollment, recording: Recording, embedder: Embedder) -> Enrollment:
    worn = observe(recording, embedder)
    for embedding, fault in zip(worn.embeddings, worn.faults, strict=True):
        enrollment = push(enrollment, None if fault else embedding, fault=fault)
    return enrollment
