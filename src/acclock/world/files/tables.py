"""Text with a row of column names and rows of numbers."""

from dataclasses import dataclass

import numpy as np

from acclock.errors import UnreadableError
from acclock.values import FloatArray

try:
    from acclock.world.files import _numbers as kernel
except ImportError:  # it was installed where no C compiler is
    from acclock.world.files import (  # type: ignore[no-redef]  # the same in Python
        uncompiled_numbers as kernel,
    )

_DELIMITERS = "\t,;|"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_HEADER = 65536
_MOST_COLUMNS = 512


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Column names, and the text below them that is turned into numbers when asked for."""

    names: tuple[str, ...]
    delimiter: str
    text: bytes
    body: int
    """Where in ``text`` the rows begin."""
    first_line: int
    """The number of the line at ``body``, as an editor counts."""

    def numbers(self, *names: str) -> FloatArray:
        """Give some columns in the order asked for, one per row; empty fields are NaN."""
        places = [self._place(name) for name in names]
        wanted = tuple(sorted(set(places)))
        capacity = self.text.count(b"\n", self.body) + 1
        out = np.empty((len(wanted), capacity))
        try:
            rows = kernel.parse(self.text, self.body, self.delimiter.encode(), wanted, out)
        except ValueError as error:
            line, place = error.args
            raise UnreadableError(
                f"line {self.first_line + line} has no number in column "
                f"'{self.names[wanted[place]]}'"
            ) from None
        if rows == 0:
            raise UnreadableError("there are column names, but no rows below them")
        return out[[wanted.index(place) for place in places], :rows]

    def first_text(self, name: str) -> str:
        """Give what stands in a column in the first row, as text; nothing when there is none."""
        end = self.text.find(b"\n", self.body)
        line = self.text[self.body : end if end >= 0 else None].decode(errors="replace")
        fields = line.split(self.delimiter)
        place = self._place(name)
        return fields[place].strip() if place < len(fields) else ""

    def _place(self, name: str) -> int:
        if name not in self.names:
            found = ", ".join(self.names)
            raise UnreadableError(f"there is no column '{name}'; the columns are: {found}")
        return self.names.index(name)


def open_table(text: bytes) -> Table | None:
    r"""Find the row of column names, or nothing when this is not such a text.

    >>> open_table(b"t;x\n0;1\n").names
    ('t', 'x')
    """
    start = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0
    line_number = 1
    while True:
        end = text.find(b"\n", start, start + _LONGEST_HEADER)
        line = text[start : end if end >= 0 else start + _LONGEST_HEADER]
        if end < 0 or (line.strip() and not line.startswith(b"#")):
            break
        start, line_number = end + 1, line_number + 1
    if end < 0:
        return None
    header = line.decode(errors="replace").strip("\r")
    if not header.replace("\t", "").isprintable():
        return None
    delimiter = max(_DELIMITERS, key=header.count)
    names = tuple(name.strip(' \t"') for name in header.split(delimiter))
    if len(names) < 2 or len(names) > _MOST_COLUMNS:
        return None
    return Table(
        names=names, delimiter=delimiter, text=text, body=end + 1, first_line=line_number + 1
    )
