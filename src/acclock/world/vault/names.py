"""Which names people may have."""

import unicodedata

from acclock.errors import NameRefusedError

LONGEST = 64
_EXTRA = " .,_-@+'’"
"""What a name may hold besides letters, marks and digits. No slash, no control character."""


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


def _allowed(character: str) -> bool:
    return character in _EXTRA or unicodedata.category(character)[0] in "LMN"
