"""Recordings that are uploaded, and what is said of those that cannot be read."""

import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import AccLockError
from acclock.recordings import write
from acclock.service.api.uploads import read_recording
from acclock.values import Recording

if TYPE_CHECKING:
    from tests.service.conftest import Running

ENDS = ("csv", "json", "npz", "zip", "oe", "txt", "mat", "xyz", "tar.gz", "")


def zipped(**files: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.csv", content)
    return whole.getvalue()


def refuse(body: bytes, filename: str) -> str:
    try:
        read_recording(body, filename)
    except AccLockError as refusal:
        return str(refusal)
    return ""


@given(
    body=st.one_of(
        st.binary(min_size=1, max_size=200),
        st.text("0123456789.,;xyz\n", min_size=1).map(str.encode),
        st.dictionaries(st.sampled_from("abc"), st.text("0123456789,\n"), max_size=3).map(
            lambda files: zipped(**files)
        ),
    ),
    end=st.sampled_from(ENDS),
)
def test_no_refusal_names_the_place_where_an_upload_was_put_aside(body: bytes, end: str) -> None:
    said = refuse(body, f"my file.{end}")

    assert tempfile.gettempdir() not in said
    assert "acclock-" not in said
    assert not said or "my_file." in said


def test_a_recording_that_is_cut_short_is_refused_by_its_own_name(
    running: "Running", tmp_path: Path
) -> None:
    worn: Recording = running.later
    write(worn, tmp_path / "worn.npz")
    body = (tmp_path / "worn.npz").read_bytes()[:-2000]

    with running.client(running.token("operator")) as client:
        answer = client.post("/v1/people/anna/verify?filename=worn.npz", content=body)

    sentence = answer.json()["error"]["sentence"]
    assert answer.status_code == 422
    assert sentence.startswith(("worn.npz", "'worn.npz'"))
    assert "/" not in sentence


def test_a_disk_that_is_full_is_a_sentence_without_a_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc")

    said = refuse(b"x", "a.csv")

    assert said.startswith("the recording cannot be put aside to be read: ")
    assert "/proc" not in said
