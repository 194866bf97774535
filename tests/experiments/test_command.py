import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import typer
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from acclock.cli.evaluate import evaluate
from acclock.embedding.card import CARD_KEY
from acclock.errors import AccLockError, ModelError
from acclock.matching.cohort import Cohort
from acclock.models.cohorts import cohort_path, write_cohort
from acclock.models.files import write_model


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    program = typer.Typer()
    program.command()(evaluate)
    return program


@pytest.fixture
def model(tmp_path: Path, bands: type) -> Path:
    """Directions of random projections of the window: poor, but a real model file."""
    weights = np.random.default_rng(5).normal(0, 1, (1200, 36)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Flatten", ["windows"], ["flat"]),
            helper.make_node("MatMul", ["flat", "weights"], ["mapped"]),
            helper.make_node("Abs", ["mapped"], ["positive"]),
            helper.make_node("LpNormalization", ["positive"], ["embeddings"], axis=1, p=2),
        ],
        "random",
        [helper.make_tensor_value_info("windows", TensorProto.FLOAT, ["batch", 3, 400])],
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["batch", 36])],
        [numpy_helper.from_array(weights, "weights")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    helper.set_model_props(made, {CARD_KEY: bands().card.to_json()})
    onnx.checker.check_model(made)
    write_model(tmp_path / "random.onnx", bytes(made.SerializeToString()))
    return tmp_path / "random.onnx"


def test_the_command_prints_figures_and_draws(
    app: typer.Typer, model: Path, simulated: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "det.png"
    arguments = ["simulated", str(simulated), "--model", str(model), "--people", "3"]

    ran = CliRunner().invoke(app, [*arguments, "--det", str(picture), "--json"])
    told = CliRunner().invoke(app, [*arguments, "--protocol", "within-session"])

    facts = json.loads(ran.stdout)
    assert ran.exit_code == told.exit_code == 0
    assert (facts["people"], facts["protocol"]) == (3, "cross-session")
    assert [score["windows_averaged"] for score in facts["scores"]] == [1, 5, 15]
    assert picture.exists()
    assert "pooled equal error" in told.stdout


def test_the_cohort_beside_the_model_gives_the_enrolled_thresholds(
    app: typer.Typer, model: Path, simulated: Path
) -> None:
    rows = np.abs(np.random.default_rng(1).normal(size=(200, 36)))
    fingerprint = hashlib.sha256(model.read_bytes()).hexdigest()
    strangers = Cohort(
        embeddings=rows / np.linalg.norm(rows, axis=1, keepdims=True), model=fingerprint
    )
    write_cohort(cohort_path(model), strangers)

    ran = CliRunner().invoke(
        app, ["simulated", str(simulated), "--model", str(model), "--people", "2", "--json"]
    )

    facts = json.loads(ran.stdout)
    assert facts["scores"][0]["far_at_enrolled_threshold"]["value"] <= 1.0
    assert len(facts["notes"]) == 1


def test_an_unknown_data_set_is_misuse(app: typer.Typer, simulated: Path) -> None:
    ran = CliRunner().invoke(app, ["ecg", str(simulated)])

    assert ran.exit_code == 2


def test_a_model_that_is_not_there_is_named(app: typer.Typer, simulated: Path) -> None:
    ran = CliRunner().invoke(app, ["simulated", str(simulated), "--model", "nobody"])

    assert isinstance(ran.exception, AccLockError)
    with pytest.raises(ModelError, match="there is no model 'nobody'"):
        raise ran.exception
