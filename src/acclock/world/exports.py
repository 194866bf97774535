"""Weights on disk, written as files that run without torch."""

from pathlib import Path

import numpy as np

from acclock.embedding.card import Card, Precision
from acclock.embedding.embedder import Embedder
from acclock.errors import ConfigError
from acclock.pipeline import Preparation
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.drawing import keep_axes
from acclock.training.export import export
from acclock.training.grid import Windows, lay_grid
from acclock.training.mobile import export_mobile
from acclock.training.rates import bring_to
from acclock.training.raw.export import export_raw
from acclock.training.variants import VariantLoss, halve, measure_loss, quantize
from acclock.world.models.files import find_model, read_model
from acclock.world.shipped_exports import write_export
from acclock.world.weights import load_weights

_WEARERS = 6
_WEARING_S = 60.0


def export_into(name: str, path: Path, *, raw: bool, precision: Precision) -> dict[str, object]:
    """Write a model as ONNX with its manifest, and say what was written."""
    if raw and precision != "float32":
        raise ConfigError(f"a model for raw acceleration has float32 weights, not {precision}")
    if raw:
        model, card = load_weights(name)
        return write_export(path, export_raw(model, card), card, raw=True)
    exported, card = _export_windows(name)
    if precision == "float32":
        return write_export(path, exported, card)
    smaller = {"float16": halve, "int8": quantize}[precision](exported)
    windows, people = simulate_windows(card)
    loss = measure_loss(exported, smaller, windows=windows, people=people)
    return write_export(path, smaller, card) | _describe(loss)


def export_mobile_into(name: str, path: Path) -> dict[str, object]:
    """Write a model as a program for ExecuTorch with its manifest, and say what was written."""
    model, card = load_weights(name)
    return write_export(path, export_mobile(model, card), card)


def simulate_windows(card: Card) -> tuple[Windows, list[str]]:
    """Give windows of people who do not exist, prepared as a model wants them, and whose they are.

    They say what a variant costs; how good a model is they do not say.
    """
    preparation = Preparation.of(card)
    parts, people = [], []
    for index in range(_WEARERS):
        worn = simulate(draw_person(index, seed=1), Scene(duration_s=_WEARING_S)).recording
        windows = lay_grid(bring_to(worn, card.rate_hz), preparation).windows
        parts.append(keep_axes(windows, card.axes))
        people += [str(index)] * len(windows)
    return np.concatenate(parts), people


def _export_windows(name: str) -> tuple[bytes, Card]:
    """Give a model as ONNX with its card: as it lies there already, or made from weights."""
    if Path(name).suffix == ".safetensors":
        model, card = load_weights(name)
        return export(model, card), card
    exported = read_model(find_model(name))
    return exported, Embedder(exported).card


def _describe(loss: VariantLoss) -> dict[str, object]:
    facts: dict[str, object] = {
        "measured_on": f"windows of {_WEARERS} simulated people, all pairs",
        "bytes_before": loss.bytes_before,
        "mean_cosine": loss.mean_cosine,
        "least_cosine": loss.least_cosine,
    }
    if loss.before is not None and loss.after is not None:
        before, after = loss.before.rate, loss.after.rate
        facts |= {"equal_error_before": before, "equal_error_after": after}
        facts["equal_error_rise"] = after - before
    return facts
