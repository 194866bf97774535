"""People move, or open by the heartbeat alone: decisions are as before."""

import pytest

from tests.golden.tracing import LOOPS, compare, list_names, read, trace

GROUP = "motion"


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("stream", list_names(GROUP))
def test_states_reasons_and_times_are_as_before(stream: str, loop: str) -> None:
    assert compare(read(GROUP)[stream][loop], trace(GROUP)[stream][loop]) == []
