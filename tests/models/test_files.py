"""A model is trusted byte for byte or not at all."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acclock.errors import ModelError, UnwritableError
from acclock.models.files import find_model, manifest_path, read_model, write_model

MODEL = bytes(range(256)) * 4


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model with its manifest beside it."""
    path = tmp_path / "mine.onnx"
    write_model(path, MODEL)
    return path


def test_a_model_comes_back_as_it_was_written(path: Path) -> None:
    assert read_model(path) == MODEL


def test_a_model_is_replaced_with_its_manifest(path: Path) -> None:
    write_model(path, b"another")

    assert read_model(path) == b"another"
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["mine.onnx", "mine.onnx.json"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, len(MODEL) - 1), flip=st.integers(1, 255))
def test_one_changed_byte_is_refused(path: Path, position: int, flip: int) -> None:
    altered = bytearray(MODEL)
    altered[position] ^= flip
    path.write_bytes(altered)

    with pytest.raises(ModelError, match="has been altered"):
        read_model(path)


@pytest.mark.parametrize("length", [0, 1, len(MODEL) - 1])
def test_a_truncated_model_is_refused(path: Path, length: int) -> None:
    path.write_bytes(MODEL[:length])

    with pytest.raises(ModelError, match=f"holds {length} bytes; its manifest asks for 1024"):
        read_model(path)


def test_a_longer_model_is_refused(path: Path) -> None:
    path.write_bytes(MODEL + b"\0")

    with pytest.raises(ModelError, match="holds 1025 bytes"):
        read_model(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not the manifest of a model"),
        ("[]", "is not the manifest of a model"),
        ("null", "is not the manifest of a model"),
        ('{"format": 1}', "is not the manifest of a model"),
        ("\ufeff{}", "is not the manifest of a model"),
        ('{"format": 2, "bytes": 1024, "sha256": ""}', "has format 2; this reads format 1"),
        ('{"format": 1, "bytes": 1024, "sha256": ""}', "has been altered"),
        ('{"format": 1, "bytes": 1024, "sha256": null}', "has been altered"),
    ],
)
def test_a_manifest_that_says(text: str, reason: str, path: Path) -> None:
    manifest_path(path).write_text(text)

    with pytest.raises(ModelError, match=reason):
        read_model(path)


def test_a_manifest_that_is_not_text_is_refused(path: Path) -> None:
    manifest_path(path).write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ModelError, match="is not the manifest of a model"):
        read_model(path)


def test_a_model_without_its_manifest_is_refused(path: Path) -> None:
    manifest_path(path).unlink()

    with pytest.raises(ModelError, match=r"cannot read .*mine\.onnx\.json: No such file"):
        read_model(path)


def test_a_manifest_without_its_model_is_refused(path: Path) -> None:
    path.unlink()

    with pytest.raises(ModelError, match=r"cannot read .*mine\.onnx: No such file"):
        read_model(path)


def test_a_model_between_two_writes_is_refused(path: Path) -> None:
    before = json.loads(manifest_path(path).read_text())
    write_model(path, b"new" * 400)
    manifest_path(path).write_text(json.dumps(before))

    with pytest.raises(ModelError):
        read_model(path)


def test_a_model_is_found_by_its_path(path: Path) -> None:
    assert find_model(str(path)) == path


@pytest.mark.parametrize("name", ["nobody", "", "../files", "a/b"])
def test_a_model_that_is_nowhere_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="it is neither a file nor shipped"):
        find_model(name)


def test_a_model_is_not_written_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="cannot write"):
        write_model(tmp_path / "nowhere" / "model.onnx", MODEL)
