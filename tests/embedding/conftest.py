"""A model small enough to be written by hand."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from acclock.embedding.card import CARD_KEY, Card
from acclock.values import FloatArray

HandMade = Callable[..., bytes]


@pytest.fixture
def card() -> Card:
    """The card of a model that reads ten samples of three axes."""
    return Card(
        name="by hand",
        version="1",
        network="v4",
        config={"width": 4},
        rate_hz=50.0,
        axes=3,
        window_length=10,
        embedding_width=4,
        preparation="bandpass",
        denoiser="0123456789abcdef",
        training_data=("nothing (CC0-1.0)",),
        people=(),
        license="Apache-2.0",
        metrics={"eer": 0.5},
    )


@pytest.fixture
def projection() -> FloatArray:
    """The weights of the model; each column has its opposite, so that something is positive."""
    columns = np.random.default_rng(5).normal(0, 1, (30, 2))
    return np.hstack([columns, -columns])


@pytest.fixture
def hand_made(card: Card, projection: FloatArray) -> HandMade:
    """Write the model as ONNX: a rectified linear map, of unit length, that swallows NaN."""

    def make(text: str | None = card.to_json(), *, bias: float = 0.0) -> bytes:
        weights = numpy_helper.from_array(projection.astype(np.float32), "weights")
        graph = helper.make_graph(
            [
                helper.make_node("IsNaN", ["windows"], ["missing"]),
                helper.make_node("Where", ["missing", "nothing", "windows"], ["swallowed"]),
                helper.make_node("Flatten", ["swallowed"], ["flat"]),
                helper.make_node("MatMul", ["flat", "weights"], ["mapped"]),
                helper.make_node("Add", ["mapped", "bias"], ["shifted"]),
                helper.make_node("Relu", ["shifted"], ["positive"]),
                helper.make_node("LpNormalization", ["positive"], ["embeddings"], axis=1, p=2),
            ],
            "by hand",
            [helper.make_tensor_value_info("windows", TensorProto.FLOAT, ["batch", 3, 10])],
            [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["batch", 4])],
            [
                weights,
                numpy_helper.from_array(np.array(bias, dtype=np.float32), "bias"),
                numpy_helper.from_array(np.array(0.0, dtype=np.float32), "nothing"),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
        if text is not None:
            helper.set_model_props(model, {CARD_KEY: text})
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    return make
