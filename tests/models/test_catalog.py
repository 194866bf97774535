"""Which model is taken: the one that made a template, or the one that a sensor's rate allows."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import ModelError
from acclock.models import catalog as catalog_module
from acclock.models.catalog import LoadedModel, ModelCatalog
from acclock.models.files import SHIPPED_HZ, find_model, fingerprint_of, name_model

CATALOG = ModelCatalog()


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A copy of a shipped model as a file of the user's own."""
    for path in find_model("default-25").parent.glob("default-25.*"):
        shutil.copy(path, tmp_path / path.name)
    return str(tmp_path / "default-25.onnx")


@pytest.mark.parametrize("name", SHIPPED_HZ)
def test_the_table_of_shipped_models_is_that_of_their_cards(name: str) -> None:
    model = CATALOG.named(name)

    assert model.card.rate_hz == SHIPPED_HZ[name]
    assert CATALOG.made(fingerprint_of(find_model(name))) is model
    assert name_model(model.embedder.fingerprint) == name


@given(sampled_hz=st.floats(17.5, 1000.0))
def test_the_model_of_the_highest_rate_that_the_sensor_reaches_enrolls(sampled_hz: float) -> None:
    chosen = CATALOG.choose(sampled_hz).model

    chosen.card.require_sampled(sampled_hz)
    higher = [hz for hz in SHIPPED_HZ.values() if hz > chosen.card.rate_hz]
    assert all(sampled_hz < 0.7 * hz for hz in higher)


@pytest.mark.parametrize(
    ("sampled_hz", "name"),
    [(100.0, "default"), (73.2, "default"), (50.3, "default-50"), (24.9, "default-25")],
)
def test_the_choice_is_told_with_its_reason(sampled_hz: float, name: str) -> None:
    sentence = CATALOG.choose(sampled_hz).sentence

    assert sentence == f"model {name}: the samples were taken at {sampled_hz:g} Hz"


def test_a_sensor_that_no_model_can_read_is_refused() -> None:
    with pytest.raises(ModelError, match=r"taken at 10 Hz; any of .* needs at least 17.5 Hz"):
        CATALOG.choose(10.0)


def test_what_the_user_names_enrolls_and_is_not_replaced_by_another() -> None:
    asked = ModelCatalog(["default"])

    assert asked.choose(100.0).sentence == "model default: it was asked for"
    with pytest.raises(ModelError, match="taken at 25 Hz; default needs at least 70 Hz"):
        asked.choose(25.0)


def test_of_several_that_the_user_names_the_rate_chooses(own: str) -> None:
    several = ModelCatalog([own, "default-50"])

    assert several.choose(100.0).model.name == "default-50"
    assert several.choose(25.0).model.name == own


def test_a_file_of_the_users_own_is_found_by_the_template_that_it_made(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprint = fingerprint_of(Path(own))
    monkeypatch.setattr(catalog_module, "SHIPPED_HZ", {"default": 100.0})

    assert ModelCatalog(known=[own]).made(fingerprint).name == own
    with pytest.raises(ModelError, match="`acclock migrate`"):
        ModelCatalog().made(fingerprint)


def test_a_model_is_loaded_once_and_only_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = catalog_module._load

    def count(name: str) -> LoadedModel:
        loaded.append(name)
        return load(name)

    monkeypatch.setattr(catalog_module, "_load", count)
    fresh = ModelCatalog()
    assert loaded == []

    with ThreadPoolExecutor(4) as threads:
        found = set(threads.map(fresh.choose, [25.0] * 8))

    assert loaded == ["default-25"]
    assert len({one.model for one in found}) == 1


def test_a_wrong_name_is_refused_at_once(tmp_path: Path) -> None:
    bare = tmp_path / "bare.onnx"
    bare.write_bytes(b"no manifest beside it")

    with pytest.raises(ModelError, match="there is no model 'nothere'"):
        ModelCatalog(["nothere"])
    with pytest.raises(ModelError, match=r"bare\.onnx\.json"):
        ModelCatalog(known=[str(bare)])


def test_a_file_that_was_replaced_meanwhile_recognizes_nobody(own: str) -> None:
    fingerprint, known = fingerprint_of(Path(own)), ModelCatalog(known=[own])
    for path in find_model("default-50").parent.glob("default-50.*"):
        shutil.copy(path, Path(own).parent / path.name.replace("-50", "-25"))

    with pytest.raises(ModelError, match="has changed meanwhile"):
        known.made(fingerprint)
