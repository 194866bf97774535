"""From places to people to a model on disk, through a crash."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from acclock.embedding.card import Card
from acclock.embedding.embedder import Embedder
from acclock.errors import ConfigError, ModelError, UnreadableError
from acclock.models.files import read_model
from acclock.pipeline import Preparation, PreparationName
from acclock.recordings import write
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.checkpoint import load_weights
from acclock.training.corpora import MOST_SESSIONS, gather
from acclock.training.exports import export_into, simulate_windows
from acclock.training.grid import bring_to, lay_grid

PREPARATION = Preparation(name="bandpass", rate_hz=25.0)
RECIPE = """
base = "fast"
network = "cnn"
rate_hz = 25
windows_per_person = 4
embedding_width = 16
folds = 2
[sizes]
channels = 4
[network_stage]
epochs = 3
[embedding_stage]
epochs = 1
"""
PROGRAM = Path(sys.executable).with_name("acclock")


def make_card(preparation: PreparationName) -> Card:
    return Card(
        name="tiny",
        version="1",
        network="cnn",
        config={},
        rate_hz=25.0,
        axes=3,
        window_length=100,
        embedding_width=16,
        preparation=preparation,
        denoiser="",
        training_data=(),
        people=(),
        license="Apache-2.0",
    )


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [str(PROGRAM), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )


def acclock(*arguments: object) -> tuple[int, str, str]:
    running = start(*arguments)
    told, complaint = running.communicate()
    return running.returncode, told, complaint


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder of five people with two recordings each."""
    folder = tmp_path_factory.mktemp("people")
    for index in range(5):
        (folder / f"person-{index}").mkdir()
        for session in range(2):
            scene = Scene(duration_s=36.0, session=session)
            worn = simulate(draw_person(index), scene).recording
            write(worn, folder / f"person-{index}" / f"{session}.npz")
    return folder


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    file.write_text(RECIPE)
    return file


@pytest.fixture(scope="module")
def unbroken(people: Path, recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("unbroken")
    code, told, complaint = acclock(
        "train", recipe, "--data", people, "--out", out, "--name", "tiny", "--json"
    )
    assert code == 0, complaint
    assert json.loads(told)["model"] == str(out / "tiny.onnx")
    return out


def test_people_are_gathered_and_their_windows_kept(people: Path, tmp_path: Path) -> None:
    corpus = gather([str(people)], PREPARATION, cache=tmp_path, workers=1)
    kept = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    again = gather([str(people), str(people)], PREPARATION, cache=tmp_path, workers=1)

    assert len(corpus.subjects) == 5
    assert all(len(subject.sessions) == 2 for subject in corpus.subjects)
    assert len(kept) == 10
    assert kept == {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert [one.name for one in again.subjects] == [one.name for one in corpus.subjects]
    for one, other in zip(corpus.subjects, again.subjects, strict=True):
        np.testing.assert_array_equal(one.sessions[0].grid.windows, other.sessions[0].grid.windows)


def test_who_was_recorded_often_is_thinned_out(data_folder: Path, tmp_path: Path) -> None:
    preparation = Preparation(name="bandpass", rate_hz=25.0)
    (folder := tmp_path / "one" / "anna").mkdir(parents=True)
    for session in range(MOST_SESSIONS + 3):
        worn = simulate(draw_person(0), Scene(duration_s=13.0, session=session)).recording
        write(worn, folder / f"{session:02d}.npz")

    (subject,) = gather([str(tmp_path / "one")], preparation, cache=tmp_path / "c").subjects

    assert len(subject.sessions) == MOST_SESSIONS


@pytest.mark.parametrize("place", ["simulated:", "simulated:0", "simulated:many"])
def test_a_number_of_simulated_people_is_needed(place: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="how many people"):
        gather([place], PREPARATION, cache=tmp_path)


def test_a_training_leaves_a_model_that_runs(unbroken: Path) -> None:
    embedder = Embedder(read_model(unbroken / "tiny.onnx"))
    _, card = load_weights(str(unbroken / "tiny.safetensors"))

    windows = np.random.default_rng(1).normal(size=(3, 3, 100))

    assert embedder.card == card
    assert card.people != ()
    assert 0.0 <= card.metrics[f"{card.training_data[0].split(',')[0].lower()}_equal_error_1"] <= 1
    np.testing.assert_allclose(np.linalg.norm(embedder.embed(windows), axis=1), 1.0)


def test_a_training_on_few_people_is_compared_with_the_shipped_model(
    people: Path, recipe: Path, unbroken: Path
) -> None:
    again = ("train", recipe, "--data", people, "--out", unbroken, "--name", "tiny")

    _, told, complaint = acclock(*again)
    _, told_json, complaint_json = acclock(*again, "--json")

    facts = json.loads(told_json)
    own, shipped = facts["metrics"], facts["shipped"]
    source = facts["data"][0].split(",")[0].lower()
    for windows in (1, 5, 15):
        name = f"{source}_equal_error_{windows}"
        beside = f"{own[name]:.1%}, the shipped default-25: {shipped['metrics'][name]:.1%}"
        assert f"windows averaged: {windows}: {beside}" in told
    few, unbeaten = facts["warnings"]
    assert "has 5 people" in few
    assert "needs at least 20" in few
    assert "use the shipped one, or record more people" in unbeaten
    assert [f"acclock: {one}" for one in facts["warnings"]] == complaint_json.splitlines()
    assert all(f"acclock: {one}" in complaint for one in facts["warnings"])


def test_a_training_that_is_killed_goes_on_to_the_same_weights(
    people: Path, recipe: Path, unbroken: Path, tmp_path: Path
) -> None:
    arguments = ("train", recipe, "--data", people, "--out", tmp_path, "--name", "tiny", "--json")
    running = start(*arguments)
    while not (tmp_path / "fold-1" / "checkpoint.safetensors").exists():
        assert running.poll() is None, running.stderr
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert not (tmp_path / "tiny.safetensors").exists()

    code, _, complaint = acclock(*arguments)

    assert code == 0, complaint
    weights = [folder / "tiny.safetensors" for folder in (tmp_path, unbroken)]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_another_recipe_does_not_go_on_in_the_same_folder(
    people: Path, unbroken: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(RECIPE.replace("epochs = 3", "epochs = 4"))

    code, _, complaint = acclock("train", other, "--data", people, "--out", unbroken)

    assert code == 2
    assert "another recipe" in complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("train", "fast", "--data", "simulated:3", "--out", "OUT"), "this needs at least 6"),
        (("train", "slow", "--data", "simulated:3", "--out", "OUT"), "no recipe called 'slow'"),
        (("train", "fast", "--data", "nowhere.zip", "--out", "OUT"), "nowhere.zip"),
        (("adapt", "nobody", "--data", "simulated:3", "--out", "OUT"), "no weights 'nobody'"),
        (("export", "nobody", "--onnx", "OUT"), "no model 'nobody'"),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence_before_it_begins(
    arguments: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    code, _, told = acclock(*(str(out) if word == "OUT" else word for word in arguments))

    assert code == 2
    assert complaint in told
    assert "Traceback" not in told
    assert not (out / "fold-1").exists()


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-1], lambda packed: packed[:-1] + b"\x7f", lambda _: b""]
)
def test_damaged_weights_are_refused(unbroken: Path, tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    for name in ("tiny.safetensors", "tiny.safetensors.json"):
        (tmp_path / name).write_bytes((unbroken / name).read_bytes())
    (tmp_path / "tiny.safetensors").write_bytes(
        damage((unbroken / "tiny.safetensors").read_bytes())
    )

    with pytest.raises(ModelError):
        load_weights(str(tmp_path / "tiny.safetensors"))


def test_a_model_is_adapted_to_other_people(unbroken: Path, people: Path, tmp_path: Path) -> None:
    code, told, complaint = acclock(
        "adapt", unbroken / "tiny.safetensors", "--data", people, "--data", "simulated:2",
        "--out", tmp_path, "--epochs", 1, "--json",
    )  # fmt: skip

    assert code == 0, complaint
    facts = json.loads(told)
    assert facts["equal_error_after"] <= facts["equal_error_before"]
    assert Embedder(read_model(Path(facts["model"]))).card.name == "tiny-adapted"


def test_a_model_is_exported_whole_and_smaller(unbroken: Path, tmp_path: Path) -> None:
    weights = str(unbroken / "tiny.safetensors")

    smaller = export_into(weights, tmp_path / "small.onnx", raw=False, precision="int8")
    raw = export_into(weights, tmp_path / "raw.onnx", raw=True, precision="float32")

    assert isinstance(smaller["mean_cosine"], float)
    assert smaller["mean_cosine"] > 0.95
    before, after = smaller["equal_error_before"], smaller["equal_error_after"]
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert smaller["equal_error_rise"] == after - before
    assert abs(after - before) < 0.05
    assert raw["bytes"] == len(read_model(tmp_path / "raw.onnx"))
    with pytest.raises(ConfigError, match="float32"):
        export_into(weights, tmp_path / "raw.onnx", raw=True, precision="int8")


@pytest.mark.parametrize("name", ["two-stage", "paper", "bandpass"])
def test_variants_are_compared_on_windows_as_the_model_knows_them(name: PreparationName) -> None:
    card = make_card(name)
    first = simulate(draw_person(0, seed=1), Scene(duration_s=60.0)).recording
    expected = lay_grid(bring_to(first, 25.0), Preparation(name=name, rate_hz=25.0)).windows

    windows, people = simulate_windows(card)

    np.testing.assert_array_equal(windows[: people.count("0")], expected)
    assert len(set(people)) == 6


@pytest.mark.parametrize(
    "arguments", [(), ("--onnx", "a", "--executorch", "b"), ("--executorch", "b", "--raw")]
)
def test_an_export_is_one_file(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code, _, complaint = acclock("export", "default", *arguments)

    assert code == 2
    assert "an export is one file" in complaint


def test_recordings_of_nobody_are_refused(tmp_path: Path) -> None:
    worn = simulate(draw_person(0), Scene(duration_s=20.0)).recording
    np.savetxt(
        tmp_path / "nameless.csv",
        np.column_stack([np.arange(len(worn)) / 100.0, worn.samples.T]),
        delimiter=",",
        header="seconds,x,y,z",
        comments="",
    )
    np.savetxt(
        tmp_path / "nameless2.csv",
        np.column_stack([np.arange(len(worn)) / 100.0, worn.samples.T]),
        delimiter=",",
        header="seconds,x,y,z",
        comments="",
    )

    with pytest.raises(UnreadableError):
        gather([str(tmp_path)], PREPARATION, cache=tmp_path / "windows")
