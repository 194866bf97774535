import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acclock.recordings import uncompiled_numbers
from acclock.recordings.tables import open_table
from acclock.values import FloatArray

compiled = pytest.importorskip("acclock.recordings._numbers")

FLOATS = st.floats().map(repr) | st.floats(-20, 20).map(lambda number: f"{number:.5f}")
INTEGERS = st.integers(-(10**25), 10**25).map(str)
ODD = st.sampled_from(
    ["", " ", "1e", "1e+", ".", "-", "+.5", "5.", "1e400", "-1e-400", "00012", "1_0", "0x1p3", "١",
     "nan", "-NaN", "inf", "+Infinity", "infinit", "1e22", "1e23", "9007199254740993", "\t7 ",
     "0." + "1" * 97, "0." + "1" * 99, "123456789012345678901234567890", "1e0000000000000000005"]
)  # fmt: skip
FIELDS = FLOATS | INTEGERS | ODD | st.text("0123456789.eE+-naif, ;\t\r", max_size=12)


def parse_both(
    text: bytes, delimiter: bytes, columns: tuple[int, ...]
) -> list[bytes | tuple[object, ...]]:
    """Give the bits of what each of the two parsers read, or what it refused with."""
    results: list[bytes | tuple[object, ...]] = []
    for parse in (compiled.parse, uncompiled_numbers.parse):
        out: FloatArray = np.zeros((len(columns), text.count(b"\n") + 1))
        try:
            rows = parse(text, 0, delimiter, columns, out)
            results.append(out[:, :rows].tobytes())
        except ValueError as error:
            results.append(error.args)
    return results


@given(
    rows=st.lists(st.lists(FIELDS, min_size=1, max_size=4), max_size=6),
    delimiter=st.sampled_from([",", ";", "\t"]),
    columns=st.sampled_from([(0,), (0, 1), (1, 3), (0, 1, 2)]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_both_parsers_agree_bit_for_bit(
    rows: list[list[str]], delimiter: str, columns: tuple[int, ...], line_end: str
) -> None:
    text = line_end.join(delimiter.join(fields) for fields in rows).encode()

    compiled_result, uncompiled_result = parse_both(text, delimiter.encode(), columns)

    assert compiled_result == uncompiled_result


@given(text=st.binary(max_size=300))
@example(text=b"\n\n\n")
@example(text=b",,,,,\n1")
def test_no_bytes_part_the_two_or_bring_one_down(text: bytes) -> None:
    compiled_result, uncompiled_result = parse_both(text, b",", (0, 2))

    assert compiled_result == uncompiled_result


@given(number=st.floats(allow_nan=False))
def test_a_number_is_the_one_python_reads(number: float) -> None:
    for written in (repr(number), f"{number:.17g}", f"{number:.6f}"):
        if len(written) > 100:
            continue
        out = np.zeros((1, 1))
        compiled.parse(written.encode(), 0, b",", (0,), out)
        assert struct.pack("d", out[0, 0]) == struct.pack("d", float(written))


@pytest.mark.parametrize(
    ("offset", "columns"), [(-1, (0,)), (9, (0,)), (0, ()), (0, (1, 0)), (0, (-1,)), (0, (0,) * 65)]
)
def test_arguments_that_make_no_sense_are_refused(offset: int, columns: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"columns|offset"):
        compiled.parse(b"1,2\n3,4\n", offset, b",", columns, np.zeros((2, 2)))


def test_more_rows_than_there_is_room_for_are_not_written() -> None:
    room = np.zeros((1, 3))

    with pytest.raises(BufferError):
        compiled.parse(b"1\n2\n3\n4\n", 0, b",", (0,), room)


def test_a_table_gives_columns_in_the_order_asked_for() -> None:
    table = open_table(b'# made by hand\n"z" ; x;y\r\n1;2;3\r\n\r\n4;;6')

    assert table is not None
    assert table.names == ("z", "x", "y")
    expected = [[3.0, 6.0], [1.0, 4.0], [2.0, np.nan]]
    np.testing.assert_array_equal(table.numbers("y", "z", "x"), expected)


@pytest.mark.parametrize(
    "text", [b"", b"one\n1\n", b"a,b", b"\x00\x01,\x02\n", b"\xff\xfea\0,\0\n"]
)
def test_what_has_no_column_names_is_no_table(text: bytes) -> None:
    assert open_table(text) is None
