"""Which names people may have, and which are taken by how they look."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection
from functools import cache

from acclock.errors import NameRefusedError

LONGEST = 64
_EXTRA = " .,_-@+'’"
"""What a name may hold besides letters, marks and digits. No slash, no control character."""
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that nobody sees: Unicode's Default_Ignorable_Code_Point among them."""


def checked(name: str) -> str:
    """Give a name in its normal form, or say why it is none.

    >>> checked("Zoë")
    'Zoë'
    """
    normal = unicodedata.normalize("NFC", name)
    if not normal.strip():
        raise NameRefusedError("a name cannot be empty")
    if len(normal) > LONGEST:
        raise NameRefusedError(f"a name has at most {LONGEST} characters; this has {len(normal)}")
    if normal != normal.strip() or "  " in normal:
        raise NameRefusedError("a name has no spaces at its ends and no two in a row")
    if stray := next((c for c in normal if not _allowed(c)), None):
        raise NameRefusedError(f"a name cannot hold the character U+{ord(stray):04X}")
    if not (normal[0].isalpha() or normal[0].isdigit()):
        raise NameRefusedError("a name begins with a letter or a digit")
    return normal


def folded(name: str) -> str:
    """Give what two names share that would be mistaken for each other.

    >>> folded("ZOË") == folded("zoë")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def appearances(name: str) -> frozenset[str]:
    """Give what a name looks like, as it is written and in small letters (Unicode TR 39).

    Names that share one of them can be mistaken for each other by whoever reads them.

    >>> appearances("anna") & appearances("\u0430nna")  # the first letter is Cyrillic
    frozenset({'anna'})
    """
    return frozenset({_skeleton(name), _skeleton(folded(name))})


def _skeleton(text: str) -> str:
    look_alikes = _look_alikes()
    for _ in range(3):  # what stands for a character may itself be made of some that have others
        letters = unicodedata.normalize("NFD", text)
        text = "".join(look_alikes.get(c, c) for c in letters)
    return unicodedata.normalize("NFD", text)


@cache
def _look_alikes() -> dict[str, str]:
    """Give, for each character that looks like another or like several, what stands for all."""
    # takes a tenth of a second to load, which only enrolling somebody should cost
    from confusable_homoglyphs.confusables import confusables_data

    # each is listed with what stands for it, and that with all which it stands for; characters
    # that are written from right to left come between marks of direction
    listed = {
        character.strip("\u200e"): [other["c"].strip("\u200e") for other in others]
        for character, others in confusables_data.items()
    }
    found = {}
    for character, (other, *more) in listed.items():
        alone = not more and len(listed[other]) == 1
        if not more and (not alone or (len(other), other) > (len(character), character)):
            found[character] = other
    return found


def _allowed(character: str) -> bool:
    if _INVISIBLE.match(character):
        return False
    return character in _EXTRA or unicodedata.category(character)[0] in "LMN"


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
