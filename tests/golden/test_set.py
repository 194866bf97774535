"""The set of traces: what it covers, how large it is, and what counts as a difference."""

from itertools import chain

import pytest

from tests.golden.clocks import Row
from tests.golden.loops import POLICY_NAMES, SESSION_REASONS
from tests.golden.scripts import GROUPS
from tests.golden.tracing import compare, list_names, path_of, read

SCRIPTS = list(chain.from_iterable(GROUPS.values()))
ROWS: list[Row] = [
    row
    for group in GROUPS
    for loops in read(group).values()
    for row in chain.from_iterable(loops.values())
]
OPENED = [(0.0, "locked", "unopened", "low"), (12.0, "unlocked", "granted", "medium")]


def test_every_script_has_its_trace_and_every_trace_its_script() -> None:
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS) >= 60
    for group in GROUPS:
        assert list(read(group)) == list_names(group)


def test_the_traces_are_small() -> None:
    assert sum(path_of(group).stat().st_size for group in GROUPS) < 100_000


def test_every_policy_and_entry_is_traced() -> None:
    assert {(one.policy, one.entry) for one in SCRIPTS} == {
        (policy, entry) for policy in POLICY_NAMES for entry in ("grant", "heartbeat")
    }


def test_every_reason_of_a_session_is_traced() -> None:
    assert {row[2] for row in ROWS} >= SESSION_REASONS


@pytest.mark.parametrize(
    ("now", "differs"),
    [
        (OPENED, False),
        ([OPENED[0], (12.5, *OPENED[1][1:])], False),
        ([OPENED[0], (12.51, *OPENED[1][1:])], True),
        ([OPENED[0], (12.0, "unlocked", "user", "medium")], True),
        ([OPENED[0], (12.0, "unlocked", "granted", "high")], True),
        (OPENED[:1], True),
        ([*OPENED, (20.0, "locked", "removed", "low")], True),
        (OPENED[::-1], True),
        ([], True),
    ],
)
def test_other_rows_or_half_a_second_make_a_difference(now: list[Row], differs: bool) -> None:
    assert bool(compare(OPENED, now)) is differs
