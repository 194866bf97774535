"""People enrolled anew by another model, from the recordings that they agreed to keep."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.values import FloatArray, Recording
from acclock.world.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Who knows the new model now, and who has to enroll again."""

    migrated: tuple[str, ...]
    waiting: tuple[str, ...]


def migrate(vault: Vault, *, embed: Callable[[Recording], FloatArray], cohort: Cohort) -> Migration:
    """Bring everybody to the model of a cohort, one person after the other.

    ``embed`` gives the embeddings of a recording's good windows under that model. Whoever kept
    nothing is left as they are. It can be interrupted and run again.
    """
    migrated, waiting = list[str](), list[str]()
    for person in vault.people():
        if person.model == cohort.model:
            continue
        kept = vault.kept(person.name)
        if not kept:
            waiting.append(person.name)
            continue
        before = vault.template(person.name, person.version)
        windows = np.vstack([embed(recording) for recording in kept])
        after = enroll(
            windows, cohort=cohort, now=vault.clock(), rule=before.rule, goal=before.goal
        )
        vault.revise(person.name, after, after=person.version, kind="migrated")
        migrated.append(person.name)
    return Migration(migrated=tuple(migrated), waiting=tuple(waiting))
