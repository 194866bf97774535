"""Nobody is enrolled who has not agreed: consent is in the vault's log before the template is."""

from collections.abc import Callable

from acclock.errors import NameRefusedError
from acclock.world.desk import Desk
from acclock.world.service.refusals import RefusedError
from acclock.world.vault.people import Person
from acclock.world.vault.vault import Vault


def log_consent(vault: Vault, consent: str) -> int:
    """Write down that somebody agreed, and to what; give the number of the event."""
    with vault.writing() as visit:
        visit.log("consented", note=consent)
        return visit.events


def enroll_with_consent(
    desk: Desk, name: str, enroll: Callable[[], Person], consent: int
) -> Person:
    """Enroll somebody, and link them in the log to what they agreed to."""
    try:
        person = enroll()
    except NameRefusedError:
        raise RefusedError(409, "name_taken", f"the name {name!r} is taken") from None
    with desk.vault.writing() as visit:
        note = f"consent is event {consent}"
        visit.log("enrolled by the service", person=person.person, note=note)
    return person
