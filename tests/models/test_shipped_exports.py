"""What ships can be had in every form that is promised: for phones, smaller, for ExecuTorch."""

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import numpy as np
import onnx
import onnxruntime
import pytest

from acclock.denoising.quality import judge
from acclock.embedding.card import Card
from acclock.embedding.embedder import Embedder
from acclock.errors import ModelError
from acclock.models.exports import copy_shipped, find_raw_model
from acclock.models.files import find_model, read_model
from acclock.pipeline import Preparation, prepare
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.batches import cut_context
from acclock.training.checkpoint import load_weights, recover
from acclock.training.export import draw_noise, embed_eagerly
from acclock.training.exports import (
    export_into,
    export_mobile_into,
    find_kept_whole,
    quantize,
    read_mobile_card,
    run_mobile,
)
from acclock.training.raw.export import RAW_CARD_KEY, RawRunner
from acclock.training.raw.preparations import QUALITIES
from acclock.values import FloatArray, Recording

SHIPPED = ("default", "default-50", "default-25")


@pytest.fixture(scope="module", params=SHIPPED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def embedder(name: str) -> Embedder:
    return Embedder(read_model(find_model(name)))


@pytest.fixture(scope="module")
def worn(embedder: Embedder) -> Recording:
    scene = Scene(duration_s=40.0, rate_hz=embedder.card.rate_hz)
    return simulate(draw_person(2, seed=99), scene).recording


def cut_contexts(worn: Recording, preparation: Preparation, ends: list[int]) -> FloatArray:
    length = preparation.config.context_length
    return np.stack([cut_context(worn, end, length)[0] for end in ends])


def test_the_file_for_phones_embeds_as_the_live_stream_does(
    name: str, embedder: Embedder, worn: Recording
) -> None:
    preparation = Preparation.of(embedder.card)
    whole_s = preparation.config.context_length / preparation.rate_hz
    streamed = [one for one in prepare(worn, preparation, step_s=1.0) if one.end_s > whole_s]
    ends = [round(one.end_s * preparation.rate_hz) for one in streamed]

    answer = RawRunner(read_model(find_raw_model(name))).ask(cut_contexts(worn, preparation, ends))

    assert len(streamed) > 10
    expected = embedder.embed(np.stack([one.samples for one in streamed]))
    np.testing.assert_allclose(answer.embeddings, expected, atol=1e-4)


def test_the_file_for_phones_judges_as_the_pipeline_does(
    name: str, embedder: Embedder, worn: Recording
) -> None:
    preparation = Preparation.of(embedder.card)
    length = preparation.config.context_length
    contexts = cut_contexts(worn, preparation, [length, worn.samples.shape[-1]])

    answer = RawRunner(read_model(find_raw_model(name))).ask(contexts)

    for found, context in zip(answer.qualities, contexts, strict=True):
        here = np.ones(length, dtype=bool)
        judged = judge(context, here, fresh=length, config=preparation.config)
        told = dict(zip(QUALITIES, found, strict=True))
        assert told["beat_to_noise_db"] == pytest.approx(judged.beat_to_noise_db, abs=1e-2)
        assert told["fluctuation"] == pytest.approx(judged.fluctuation, rel=1e-3)
        assert told["saturated_share"] == judged.saturated_share


def test_the_file_for_phones_has_the_card_of_its_model(name: str, embedder: Embedder) -> None:
    session = onnxruntime.InferenceSession(read_model(find_raw_model(name)))
    told = session.get_modelmeta().custom_metadata_map

    assert Card.from_json(told[RAW_CARD_KEY]) == embedder.card
    assert told["acclock.qualities"] == ",".join(QUALITIES)


def test_shipped_files_are_copied_with_their_manifests(name: str, tmp_path: Path) -> None:
    windows, raw = tmp_path / "windows.onnx", tmp_path / "phone.onnx"

    told = copy_shipped(name, windows, raw=False)
    told_raw = copy_shipped(name, raw, raw=True)

    assert read_model(windows) == read_model(find_model(name))
    assert read_model(raw) == read_model(find_raw_model(name))
    assert told is not None
    assert told_raw is not None
    assert told["bytes"] == windows.stat().st_size
    assert str(told_raw["reads"]).startswith("raw acceleration")


@pytest.mark.parametrize("raw", [False, True])
def test_copying_needs_no_extra(name: str, raw: bool, tmp_path: Path) -> None:
    # What is None among the loaded modules cannot be imported.
    script = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(('torch', 'onnx', 'safetensors', 'executorch'))\n"
        f"sys.argv = ['acclock', 'export', {name!r}, '--onnx', 'p.onnx'] + {['--raw'] * raw}\n"
        "from acclock.cli.program import main\n"
        "main()\n"
    )

    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stderr
    expected = find_raw_model(name) if raw else find_model(name)
    assert read_model(tmp_path / "p.onnx") == read_model(expected)


def test_a_file_goes_before_what_ships_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("default").write_text("not a model")

    assert copy_shipped("default", Path("out.onnx"), raw=False) is None
    assert not Path("out.onnx").exists()


def test_eight_bits_cost_little(name: str, tmp_path: Path) -> None:
    told = export_into(name, tmp_path / "small.onnx", raw=False, precision="int8")

    before = len(read_model(find_model(name)))
    assert int(str(told["bytes"])) < 0.4 * before
    assert float(str(told["least_cosine"])) > 0.97
    assert abs(float(str(told["equal_error_rise"]))) < 0.005
    assert Embedder(read_model(tmp_path / "small.onnx")).card.precision == "int8"


def test_only_the_head_of_a_shipped_model_is_quantized(name: str) -> None:
    graph = onnx.load_from_string(read_model(find_model(name))).graph
    products = {node.name for node in graph.node if node.op_type in ("MatMul", "Conv", "Gemm")}
    weights = {one.name for one in graph.initializer}

    left = products - set(find_kept_whole(graph))

    of_weights = [node for node in graph.node if node.name in left and weights & set(node.input)]
    assert [node.input[1] for node in of_weights] == ["head.embed.weight"]


def test_weights_come_back_out_of_the_shipped_file(name: str, embedder: Embedder) -> None:
    model, card = recover(read_model(find_model(name)))

    assert card == embedder.card
    windows = draw_noise(card, count=20)
    np.testing.assert_allclose(embed_eagerly(model, windows), embedder.embed(windows), atol=1e-6)


def test_weights_do_not_come_back_out_of_eight_bits() -> None:
    small = quantize(read_model(find_model("default-25")))

    with pytest.raises(ModelError, match="cannot be had back from this ONNX file"):
        recover(small)


def test_a_shipped_model_runs_by_executorch(
    name: str, tmp_path: Path, absent: Callable[[str], NoReturn]
) -> None:
    if find_spec("executorch") is None:
        absent("the extra 'executorch' is not installed")
    model, card = load_weights(name)

    export_mobile_into(name, tmp_path / "model.pte")

    program = read_model(tmp_path / "model.pte")
    assert read_mobile_card(program) == card
    for count in (1, 7, 256):
        windows = draw_noise(card, count=count)
        expected = embed_eagerly(model, windows)
        np.testing.assert_allclose(run_mobile(program, windows), expected, atol=1e-5)
