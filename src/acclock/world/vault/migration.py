"""People enrolled anew by another model, from the recordings that they agreed to keep."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from acclock.errors import EnrollmentError, ModelError, SignalError, TooFewError
from acclock.matching.template import Template
from acclock.values import Recording
from acclock.world.vault.people import Person
from acclock.world.vault.vault import Vault

Remake = Callable[[Sequence[Recording], Template], Template | None]
"""Makes a template of recordings as the old one was made; nothing where it would be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Whose template was carried over, who had that model already, and who was left alone."""

    migrated: tuple[Person, ...]
    unchanged: tuple[str, ...]
    waiting: Mapping[str, str]
    """Who could not be carried over, and what to do about it. Their template is as it was."""


def migrate(vault: Vault, people: Sequence[Person], *, remake: Remake) -> Migration:
    """Bring people to another model, each by one transaction: carried over, or as before.

    The old template stays as an older version, to roll back to. It can be interrupted and run
    again.
    """
    migrated, unchanged, waiting = list[Person](), list[str](), dict[str, str]()
    for person in people:
        try:
            after = _remake(vault, person, remake)
        except (EnrollmentError, ModelError, SignalError, TooFewError) as refusal:
            waiting[person.name] = f"{refusal}; {_enroll_again(person)}"
            continue
        if after is None:
            unchanged.append(person.name)
            continue
        note = f"from model {person.model[:12]} to {after.model[:12]}"
        migrated.append(
            vault.revise(person.name, after, after=person.version, kind="migrated", note=note)
        )
    return Migration(migrated=tuple(migrated), unchanged=tuple(unchanged), waiting=waiting)


def _remake(vault: Vault, person: Person, remake: Remake) -> Template | None:
    if not (kept := vault.kept(person.name)):
        raise EnrollmentError("no recording of theirs was kept")
    return remake(kept, vault.template(person.name, person.version))


def _enroll_again(person: Person) -> str:
    name = quote(person.name)
    return f"to enroll them again: `acclock remove {name}`, `acclock enroll {name} FILE --keep`"
