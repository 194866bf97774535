"""What the tests of sources share."""

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from acclock.live.chunks import Break, Chunk
from acclock.sources.source import Source

Listen = Callable[..., Coroutine[Any, Any, list[Chunk | Break]]]


async def _listen(
    source: Source, *, until: Callable[[list[Chunk | Break]], bool], patience_s: float = 20.0
) -> list[Chunk | Break]:
    heard: list[Chunk | Break] = []
    async with asyncio.timeout(patience_s), aclosing(source.stream()) as stream:
        async for piece in stream:
            heard.append(piece)
            if until(heard):
                break
    return heard


@pytest.fixture
def listen() -> Listen:
    """Read a source's stream until something was heard, and close it."""
    return _listen


@pytest.fixture(scope="session")
def virtual() -> ModuleType:
    """The virtual OpenEarable, which lies beside all tests."""
    path = Path(__file__).parents[1] / "virtual_openearable.py"
    spec = importlib.util.spec_from_file_location("virtual_openearable", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["virtual_openearable"] = module
    spec.loader.exec_module(module)
    return module
