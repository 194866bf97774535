"""Whether everything in a vault is there, opens, and is what the log says."""

from collections.abc import Iterable
from dataclasses import dataclass

from acclock.errors import DamagedVaultError
from acclock.world.vault.audit import Event
from acclock.world.vault.people import everybody
from acclock.world.vault.shelf import packed_recordings, packed_templates, unpack
from acclock.world.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How much was looked at and found well."""

    people: int
    versions: int
    recordings: int
    events: int


def check(vault: Vault) -> Health:
    """Open everything and compare it with the log; refuse at the first thing that is wrong."""
    events = vault.events()
    with vault.reading() as visit:
        found = list(everybody(visit))
        _compare(events[: visit.events], {person.person: person.version for person in found})
        versions = kept = 0
        for person in found:
            stored = packed_templates(visit, person)
            for _, _, packed in stored:
                unpack(visit, packed)
            versions += len(stored)
            kept += len(packed_recordings(visit, person))
    return Health(people=len(found), versions=versions, recordings=kept, events=len(events))


def _compare(events: Iterable[Event], found: dict[str, int]) -> None:
    """Tell from the log who must be there in which version; a restored backup begins anew."""
    expected: dict[str, int] = {}
    since_restored = False
    for event in events:
        if event.kind == "restored":
            expected, since_restored = {}, True
        elif event.kind == "removed" and event.person is not None:
            expected[event.person] = 0
        elif event.person is not None and event.version is not None:
            expected[event.person] = event.version
    differs = {person for person, version in expected.items() if found.get(person, 0) != version}
    unheard = set() if since_restored else set(found) - set(expected)
    if differs or unheard:
        raise DamagedVaultError(
            f"{len(differs | unheard)} people are not in the state that the log tells: "
            "the vault was replaced by an older copy, or rows were"
        )
