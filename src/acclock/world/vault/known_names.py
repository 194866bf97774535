"""Everybody's names by what they look like, kept in memory from one transaction to the next."""

from collections import defaultdict
from collections.abc import Callable, Collection

from acclock.world.vault.names import appearances


class KnownNames:
    """Opening ten thousand names takes a second; the next newcomer waits for the new ones alone."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._by_look: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def update(
        self, present: Collection[str], open_names: Callable[[set[str]], dict[str, str]]
    ) -> None:
        """Know who is present now, by number; ``open_names`` gives the names of some."""
        now = set(present)
        for gone in self._names.keys() - now:
            for look in appearances(self._names.pop(gone)):
                del self._by_look[look][gone]
        if new := now - self._names.keys():
            for person, name in open_names(new).items():
                self._names[person] = name
                for look in appearances(name):
                    self._by_look[look][person] = name

    def find_like(self, name: str) -> str | None:
        """Give a name that looks like another, if somebody has it."""
        alike = (self._by_look[look] for look in appearances(name) if look in self._by_look)
        return next((other for names in alike for other in names.values()), None)
