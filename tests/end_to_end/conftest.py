"""Somebody enrolled from six simulated minutes, by the shipped model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acclock.matching.template import Template
from acclock.recognizer import Recognizer, open_recognizer
from acclock.simulation import Scene, draw_person, simulate
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault


@pytest.fixture(scope="session")
def enrolled(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The template of ``person-000``."""
    folder = tmp_path_factory.mktemp("enrolled")
    with open_vault(folder, key_store=KeyFile(folder / "key")) as vault:
        recognizer = open_recognizer(vault)
        recording = simulate(draw_person(0), Scene(duration_s=360.0), seed=0).recording
        recognizer.enroll("anna", [recording])
        return vault.template("anna")


@pytest.fixture
def recognizer(tmp_path: Path, enrolled: Template) -> Iterator[Recognizer]:
    """A vault of the test's own, in which ``person-000`` is called anna."""
    home = tmp_path / "home"
    with open_vault(home, key_store=KeyFile(home / "vault.key")) as vault:
        vault.add("anna", enrolled)
        yield open_recognizer(vault)
