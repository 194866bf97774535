"""Messages that are numbered round and round: which are new, which are old, how many are lost."""


class Numbering:
    """Follows numbers that count up to ``modulus`` and begin again.

    >>> numbering = Numbering(256)
    >>> [numbering.follow(number) for number in (254, 255, 2, 2, 1, 3)]
    [0, 0, 2, None, None, 0]
    """

    def __init__(self, modulus: int) -> None:
        self._modulus = modulus
        self._last: int | None = None

    def follow(self, number: int) -> int | None:
        """Say how many were lost before this one; nothing when it came before or is older."""
        ahead = 1 if self._last is None else (number - self._last) % self._modulus
        if ahead == 0 or ahead > self._modulus // 2:
            return None
        self._last = number
        return ahead - 1

    def repeats(self, number: int) -> bool:
        return number == self._last

    def forget(self) -> None:
        self._last = None
