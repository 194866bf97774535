"""What ``_numbers.c`` does, in Python, for where there was no C compiler."""

import re

import numpy as np

from acclock.values import FloatArray

_LONGEST_FIELD = 100
_NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|(nan))", re.IGNORECASE
)


def parse(
    text: bytes, offset: int, delimiter: bytes, columns: tuple[int, ...], out: FloatArray, /
) -> int:
    """Read columns of numbers into the rows of ``out``; return how many there were in each.

    An empty field is NaN, a blank line is nothing. What is not a number ends in a ``ValueError``
    that carries the line and the place in ``columns``, both counted from zero.
    """
    padding = b" \r" if delimiter == b"\t" else b" \r\t"
    rows = 0
    for number, line in enumerate(text[offset:].split(b"\n")):
        if not line.strip(b" \t\r"):
            continue
        fields = line.split(delimiter)
        for place, column in enumerate(columns):
            if column >= len(fields):
                raise ValueError(number, place)
            value = _read(fields[column].strip(padding))
            if value is None:
                raise ValueError(number, place)
            out[place, rows] = value
        rows += 1
    return rows


def _read(field: bytes) -> float | None:
    if not field:
        return np.nan
    found = _NUMBER.fullmatch(field) if len(field) <= _LONGEST_FIELD else None
    if found is None:
        return None
    return np.nan if found.group(1) else float(field)
