"""What every test may ask for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

settings.register_profile("acclock", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("acclock")


def _skip_or_fail(what: str) -> NoReturn:
    if os.environ.get("ACCLOCK_REQUIRE_ALL") == "1":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def absent() -> Callable[[str], NoReturn]:
    """Skip with a clear line; where everything must be there, fail instead."""
    return _skip_or_fail


@pytest.fixture(scope="session")
def data_folder(absent: Callable[[str], NoReturn]) -> Path:
    """Where the real recordings lie (the environment variable ACCLOCK_DATA says)."""
    named = os.environ.get("ACCLOCK_DATA")
    if named is None:
        absent("ACCLOCK_DATA does not name the folder of the real recordings")
    folder = Path(named)
    if not folder.is_dir():
        absent(f"ACCLOCK_DATA names {folder}, which is not a folder")
    return folder
