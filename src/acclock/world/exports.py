"""Weights on disk, written as files that run without torch."""

import hashlib
from pathlib import Path

import numpy as np

from acclock.embedding.card import Card, Precision
from acclock.errors import ConfigError
from acclock.pipeline import Preparation
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.drawing import keep_axes
from acclock.training.export import export
from acclock.training.grid import Windows, lay_grid
from acclock.training.rates import bring_to
from acclock.training.raw_export import export_raw
from acclock.training.variants import VariantLoss, halve, measure_loss, quantize
from acclock.world.models.files import write_model
from acclock.world.weights import load_weights

_WEARERS = 6
_WEARING_S = 60.0


def export_into(name: str, path: Path, *, raw: bool, precision: Precision) -> dict[str, object]:
    """Write a model as ONNX with its manifest, and say what was written."""
    if raw and precision != "float32":
        raise ConfigError(f"a model for raw acceleration has float32 weights, not {precision}")
    model, card = load_weights(name)
    exported = export_raw(model, card) if raw else export(model, card)
    smaller = {"float32": lambda same: same, "float16": halve, "int8": quantize}[precision]
    written = smaller(exported)
    write_model(path, written)
    facts: dict[str, object] = {
        "model": str(path),
        "reads": f"raw acceleration at {card.rate_hz:g} Hz" if raw else "prepared windows",
        "preparation": card.preparation,
        "bytes": len(written),
        "sha256": hashlib.sha256(written).hexdigest(),
    }
    return facts if precision == "float32" else facts | _describe(_compare(exported, written, card))


def _compare(exported: bytes, written: bytes, card: Card) -> VariantLoss:
    """Compare a variant with what it came from on simulated people."""
    windows, people = _simulate(card)
    return measure_loss(exported, written, windows=windows, people=people)


def _describe(loss: VariantLoss) -> dict[str, object]:
    errors = {"before": loss.before, "after": loss.after}
    return {
        "mean_cosine": loss.mean_cosine,
        "least_cosine": loss.least_cosine,
        "measured_on": f"windows of {_WEARERS} simulated people, all pairs",
        **{f"equal_error_{when}": error.rate for when, error in errors.items() if error},
    }


def _simulate(card: Card) -> tuple[Windows, list[str]]:
    preparation = Preparation(name="bandpass", rate_hz=card.rate_hz)
    parts, people = [], []
    for index in range(_WEARERS):
        worn = simulate(draw_person(index, seed=1), Scene(duration_s=_WEARING_S)).recording
        windows = lay_grid(bring_to(worn, card.rate_hz), preparation).windows
        parts.append(keep_axes(windows, card.axes))
        people += [str(index)] * len(windows)
    return np.concatenate(parts), people
