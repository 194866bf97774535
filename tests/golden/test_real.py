"""Real hearts are played as if they were live: decisions are as before."""

from pathlib import Path

import pytest

from tests.golden.tracing import LOOPS, compare, list_names, read, trace

GROUP = "real"


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("stream", list_names(GROUP))
def test_states_reasons_and_times_are_as_before(data_folder: Path, stream: str, loop: str) -> None:
    assert compare(read(GROUP)[stream][loop], trace(GROUP)[stream][loop]) == []
