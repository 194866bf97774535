"""Where people are enrolled and recognized: models with their cohorts, and a vault."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf
from shlex import quote

import numpy as np

from acclock.errors import ModelError
from acclock.matching.coaching import Enrollment, Progress, finish, push, report
from acclock.matching.template import Template
from acclock.matching.threshold import Rule, rule_named, usual_rule
from acclock.matching.update import Update, extend, update
from acclock.matching.verdict import Verdict
from acclock.matching.verification import Identification, choose_best, verify
from acclock.models.catalog import ChosenModel, LoadedModel, ModelCatalog
from acclock.models.files import find_model, fingerprint_of
from acclock.values import FloatArray, Recording
from acclock.vault.identifier import Identifier, Migration, migrate
from acclock.vault.people import VaultPerson
from acclock.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EnrollmentOutcome:
    """Somebody who is now known, by which model, and how well that went."""

    person: VaultPerson
    progress: Progress
    chosen: ChosenModel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recognizer:
    """Enrolls and recognizes people. Made by :func:`open_recognizer`.

    Recordings may have any rate: each is brought to that of the model that reads it.
    """

    vault: Vault
    models: ModelCatalog

    def choose_model(self, recordings: Sequence[Recording]) -> ChosenModel:
        """Choose the model that enrolls somebody: the rarest samples decide."""
        rates_hz = (recording.native_rate_hz for recording in recordings)
        return self.models.choose(min(rates_hz, default=inf))

    def model_of(self, name: str, *, asked: str | None = None) -> ChosenModel:
        """Give the model that somebody was enrolled with; ``asked`` must be that one or nothing."""
        person = self.vault.person(name)
        if asked is not None and fingerprint_of(find_model(asked)) != person.model:
            known = self.models.name_of(person.model) or "a model that is not here"
            command = f"acclock migrate {quote(person.name)} --model {quote(asked)}"
            raise ModelError(
                f"{person.name} was enrolled with {known}, not with {asked}: leave --model out, or "
                f"carry the template over by `{command}`"
            )
        reason = f"{person.name} was enrolled with it"
        return ChosenModel(model=self.models.made(person.model), reason=reason)

    def enroll(
        self,
        name: str,
        recordings: Sequence[Recording],
        *,
        rule: str | None = None,
        keep: bool = False,
        consent: str | None = None,
    ) -> EnrollmentOutcome:
        """Make somebody known from recordings of them alone, or store nothing.

        The threshold is chosen by the rule of that name, or as is usual with the model's cohort.
        """
        chosen = self.choose_model(recordings)
        cohort, named = chosen.model.cohort, None if rule is None else rule_named(rule)
        enrollment = _gather(recordings, chosen.model)
        template = finish(enrollment, cohort=cohort, now=datetime.now(UTC), rule=named)
        kept = recordings if keep else ()
        person = self.vault.add(name, template, keep=kept, consent=consent)
        progress = report(enrollment, cohort=cohort, rule=named)
        return EnrollmentOutcome(person=person, progress=progress, chosen=chosen)

    def verify(self, name: str, recording: Recording) -> Verdict:
        """Tell whether the wearer of a recording is this person."""
        template = self.vault.template(name)
        model = self.models.made(template.model)
        worn = model.observe(recording)
        return verify(template, worn.embeddings, faults=worn.faults, cohort=model.cohort)

    def identify(self, recording: Recording, *, asked: str | None = None) -> Identification:
        """Tell who of the enrolled the wearer is, or that it is none of them.

        Everybody is compared by the model that they were enrolled with: those whom it ``asked``
        for where it is given, or else all whose model can read the recording.
        """
        found: list[Identification] = []
        uncompared: dict[str, str] = {}
        people = self.vault.people()
        for fingerprint in dict.fromkeys(person.model for person in people):
            try:
                found.append(self._identify(recording, fingerprint, asked))
            except ModelError as refusal:
                theirs = (person.name for person in people if person.model == fingerprint)
                uncompared |= dict.fromkeys(theirs, str(refusal))
        if not people:
            return Identification(name=None, reason="nobody is enrolled", verdict=None)
        return replace(choose_best(found), uncompared=uncompared)

    def update(self, name: str, recordings: Sequence[Recording]) -> Update:
        """Let a template follow its user by the windows that are clearly theirs."""
        person, template, model = self._known(name)
        windows = _embed_good(recordings, model)
        moved = update(template, windows, cohort=model.cohort, now=datetime.now(UTC))
        if moved.changed:
            self.vault.revise(name, moved.template, after=person.version)
        return moved

    def extend(
        self, name: str, recordings: Sequence[Recording], *, keep: bool = False
    ) -> VaultPerson:
        """Add windows that the user recorded on purpose, as of talking."""
        person, template, model = self._known(name)
        windows = _embed_good(recordings, model)
        longer = extend(template, windows, cohort=model.cohort, now=datetime.now(UTC))
        kept = recordings if keep else ()
        return self.vault.revise(name, longer, after=person.version, kind="extended", keep=kept)

    def migrate(self, names: Sequence[str] | None = None) -> Migration:
        """Carry templates over to the model that would enroll their users now, from what was kept.

        Without names it is everybody's. A name that nobody has is refused before anything changes.
        """
        people = self.vault.people()
        if names is not None:
            people = [self.vault.person(name) for name in names]
        return migrate(self.vault, people, remake=self._remake)

    def _known(self, name: str) -> tuple[VaultPerson, Template, LoadedModel]:
        person, template = self.vault.person(name), self.vault.template(name)
        return person, template, self.models.made(template.model)

    def _identify(
        self, recording: Recording, fingerprint: str, asked: str | None
    ) -> Identification:
        if asked is not None and fingerprint_of(find_model(asked)) != fingerprint:
            known = self.models.name_of(fingerprint) or "a model that is not here"
            raise ModelError(f"enrolled with {known}, not with {asked}")
        model = self.models.made(fingerprint)
        worn = model.observe(recording)
        people = Identifier(self.vault, model=fingerprint)
        return people.identify(worn.embeddings, faults=worn.faults, cohort=model.cohort)

    def _remake(self, kept: Sequence[Recording], before: Template) -> Template | None:
        """Enroll from recordings as ``before`` was; nothing where that model is the same."""
        model = self.choose_model(kept).model
        if model.embedder.fingerprint == before.model:
            return None
        enrollment = _gather(kept, model)
        enrollment = replace(enrollment, goal=max(before.goal, enrollment.least))
        rule = _fit_rule(before.rule, model)
        return finish(enrollment, cohort=model.cohort, now=self.vault.clock(), rule=rule)


def open_recognizer(
    vault: Vault, *, models: Sequence[str] = (), known: Sequence[str] = ()
) -> Recognizer:
    """Put models beside a vault: the shipped ones, and files or names of the user's choice.

    Where ``models`` are given, people are enrolled with one of them; those of ``known`` recognize
    whom they enrolled before.
    """
    return Recognizer(vault=vault, models=ModelCatalog(models, known=known))


def _gather(recordings: Sequence[Recording], model: LoadedModel) -> Enrollment:
    enrollment = Enrollment()
    for recording in recordings:
        worn = model.observe(recording)
        for embedding, fault in zip(worn.embeddings, worn.faults, strict=True):
            enrollment = push(enrollment, None if fault else embedding, fault=fault)
    return enrollment


def _embed_good(recordings: Sequence[Recording], model: LoadedModel) -> FloatArray:
    return np.vstack([model.observe(recording).good for recording in recordings])


def _fit_rule(rule: Rule, model: LoadedModel) -> Rule:
    """Give the rule, or the usual one where the cohort cannot follow it."""
    follows = rule.strictness is None or model.cohort.knows_levels
    return rule if follows else usual_rule(model.cohort)
