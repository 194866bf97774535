"""Windows to identity vectors, by ONNX Runtime alone."""

import hashlib
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from acclock.embedding.card import CARD_KEY, Card
from acclock.errors import ConfigError, ModelError, SignalError
from acclock.values import FloatArray

_BATCH = 256
"""Windows per run: more are no faster, and memory stays bounded."""
_UNIT_TOLERANCE = 0.01


class Embedder:
    """A model, ready to embed. One serves the whole process: threads may share it.

    It takes the bytes of a model file that somebody else has found and verified
    (:mod:`acclock.models`).
    """

    def __init__(self, model: bytes, *, threads: int = 1) -> None:
        if threads < 1:
            raise ConfigError(f"embedding needs at least one thread, not {threads}")
        self._session = _open_session(model, threads)
        self.card = _read_card(self._session)
        _check_shapes(self._session, self.card)
        self.fingerprint = hashlib.sha256(model).hexdigest()
        """Which model this is; a template made by another cannot be compared."""

    def embed(self, windows: NDArray[np.floating[Any]]) -> FloatArray:
        """Give the unit embedding of every window: ``(batch, axis, sample)`` to ``(batch, width)``.

        A window that holds anything but finite numbers, or that the network makes nothing of,
        gets a row of NaN: its distance to everyone is NaN, which no threshold accepts.
        """
        shape = (self.card.axes, self.card.window_length)
        if windows.ndim != 3 or windows.shape[1:] != shape:
            raise SignalError(
                f"the model reads windows of {shape[0]} x {shape[1]} samples (axes x time);"
                f" these have shape {windows.shape}"
            )
        if len(windows) <= _BATCH:  # the live stream brings one at a time: spare it the copies
            return self._embed_batch(windows)
        starts = range(0, len(windows), _BATCH)
        return np.concatenate([self._embed_batch(windows[n : n + _BATCH]) for n in starts])

    def _embed_batch(self, windows: NDArray[np.floating[Any]]) -> FloatArray:
        with np.errstate(over="ignore"):  # beyond single precision is infinite, hence unusable
            inputs = np.ascontiguousarray(windows, dtype=np.float32)
        usable = np.asarray(np.isfinite(inputs).all(axis=(1, 2)))
        if not usable.all():
            # An infinity would spoil the scale that an int8 network takes from the whole batch.
            inputs = np.where(usable[:, np.newaxis, np.newaxis], inputs, np.float32(0.0))
        (outputs,) = self._session.run(None, {"windows": inputs})
        embeddings: FloatArray = outputs.astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", embeddings, embeddings))
        usable &= np.abs(lengths - 1.0) < _UNIT_TOLERANCE
        if not usable.all():
            lengths[~usable] = np.nan
        embeddings /= lengths[:, np.newaxis]
        return embeddings


def _open_session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors share no base class of their own
        raise ModelError("the model's bytes are not a network that can be run") from error


def _read_card(session: onnxruntime.InferenceSession) -> Card:
    told = session.get_modelmeta().custom_metadata_map
    if CARD_KEY not in told:
        raise ModelError("the model carries no card, so nobody knows what windows it reads")
    return Card.from_json(told[CARD_KEY])


def _check_shapes(session: onnxruntime.InferenceSession, card: Card) -> None:
    told = [card.axes, card.window_length], [card.embedding_width]
    found = session.get_inputs()[0].shape[1:], session.get_outputs()[0].shape[1:]
    if found != told:
        raise ModelError(
            f"the model maps windows of {found[0]} to {found[1]};"
            f" its card says {told[0]} to {told[1]}"
        )
