"""What is known about whoever wears the earphone, since it was put in."""

from dataclasses import dataclass, field, replace
from math import isnan

from acclock.matching.centers import center_of, distance_to
from acclock.matching.cohort import Cohort
from acclock.matching.template import Template
from acclock.session.evidence import WINDOW_S, Evidence, add
from acclock.session.likelihood import Likelihood, calibrate_template, calibrate_wearing
from acclock.session.policies import Policy
from acclock.values import FloatArray

_MOST_GATHERED = 120


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wearing:
    """One time in the ear, from putting it in to taking it out.

    It begins unproven: windows are weighed by their distance from the template. Once they have
    proven it, they are weighed by their distance from the center of the windows that did: the
    question is then no longer who it is, but whether it is still the same. Within one wearing a
    heart differs far less from itself than between two (docs/decisions/0024).
    """

    center: FloatArray
    likelihood: Likelihood
    proven: bool = False
    shaken: bool = False
    """Whether it was shaken, or trust in it was lost, since it was last proven."""
    evidence: Evidence = field(default_factory=Evidence)
    gathered: tuple[FloatArray, ...] = ()
    """The windows of the proof that is under way."""

    def disproven(self, policy: Policy) -> bool:
        """Whether enough speaks against the user."""
        most = policy.revoke_nats if self.proven else policy.needed_nats
        return self.evidence.against >= most

    def clear(self, policy: Policy) -> bool:
        """Whether so little speaks against the user that windows may renew trust."""
        return self.evidence.against < policy.revoke_nats / 2.0

    @property
    def trusted(self) -> bool:
        """Whether it was proven, and proven once more since it was last doubted."""
        return self.proven and not self.shaken


def begin(template: Template, cohort: Cohort, policy: Policy) -> Wearing:
    """Give a wearing about which nothing is known yet."""
    likelihood = calibrate_template(template, cohort, factor=policy.cohort_factor)
    return Wearing(center=template.center, likelihood=likelihood)


def weigh(wearing: Wearing, embedding: FloatArray) -> float | None:
    """Give the nats that a window of this wearing speaks for the user, if it has an embedding."""
    distance = distance_to(wearing.center, embedding)
    return None if isnan(distance) else wearing.likelihood.weigh(distance)


def shake(wearing: Wearing) -> Wearing:
    """Give a wearing of which nothing speaks for the user any longer."""
    return replace(
        wearing, shaken=True, evidence=replace(wearing.evidence, towards=0.0), gathered=()
    )


def hear(wearing: Wearing, embedding: FloatArray, nats: float, policy: Policy) -> Wearing:
    """Take one more window, and what it was found to say."""
    evidence = add(wearing.evidence, nats, step_s=policy.step_s)
    shaken = wearing.shaken and evidence.towards < policy.proof_nats / 2.0
    gathered = (*wearing.gathered, embedding)[-_MOST_GATHERED:]
    if wearing.proven or evidence.towards == 0.0:
        gathered = ()
    return replace(wearing, evidence=evidence, shaken=shaken, gathered=gathered)


def prove(wearing: Wearing, template: Template, cohort: Cohort, policy: Policy) -> Wearing:
    """Let a wearing be its own measure from now on, when its windows suffice as a proof."""
    lasted_s = len(wearing.gathered) * policy.step_s
    enough = wearing.evidence.towards >= policy.needed_nats and lasted_s >= policy.needed_s
    if wearing.proven or not enough:
        return wearing
    center = center_of(list(wearing.gathered))
    apart = 1.0 + (lasted_s - policy.step_s) / WINDOW_S  # so many windows, had none overlapped
    return Wearing(
        center=center,
        likelihood=calibrate_wearing(
            center, template, cohort, factor=policy.wearing_factor, windows=apart
        ),
        proven=True,
    )
