"""The head of a model in closed form, from everybody's clean windows."""

from collections.abc import Sequence

import numpy as np
import torch

from acclock.embedding.networks.leveling import level
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.training.drawing import keep_axes
from acclock.training.grid import Windows
from acclock.training.recipe import Recipe
from acclock.training.subjects import Subject
from acclock.training.whitening import Labels, fit_whitening
from acclock.values import FloatArray

_BATCH = 256


def fit_head(model: EmbeddingModel, subjects: Sequence[Subject], recipe: Recipe) -> float:
    """Give a model the head that whitens its features.

    Tells how far people's windows lie from their own center then, on average.
    """
    if model.head is None:
        raise ModelError(f"{recipe.network} has no head that could be fitted")
    windows, labels = _lay_out(subjects, recipe.axes)
    features = _read(model, windows)
    fitted = fit_whitening(features, labels, width=recipe.embedding_width, config=recipe.whitening)
    with torch.no_grad():
        model.head.embed.weight.copy_(torch.from_numpy(fitted.weight))
        model.head.embed.bias.copy_(torch.from_numpy(fitted.bias))
    embeddings = features @ fitted.weight.T + fitted.bias
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    return _measure_scatter(embeddings, labels)


def _lay_out(subjects: Sequence[Subject], axes: int) -> tuple[Windows, Labels]:
    sources = sorted({subject.source for subject in subjects})
    held = [
        (session.grid.windows, person, sources.index(subject.source))
        for person, subject in enumerate(subjects)
        for session in subject.sessions
    ]
    counts = [len(windows) for windows, _, _ in held]
    return keep_axes(np.concatenate([windows for windows, _, _ in held]), axes), Labels(
        people=np.repeat([person for _, person, _ in held], counts),
        sessions=np.repeat(np.arange(len(held)), counts),
        sources=np.repeat([source for _, _, source in held], counts),
    )


def _read(model: EmbeddingModel, windows: Windows) -> FloatArray:
    with torch.inference_mode():
        parts = [
            model.network(level(torch.from_numpy(windows[start : start + _BATCH]))).numpy()
            for start in range(0, len(windows), _BATCH)
        ]
    return np.concatenate(parts).astype(np.float64)


def _measure_scatter(embeddings: FloatArray, labels: Labels) -> float:
    people = labels.people.max() + 1
    centers = np.stack([embeddings[labels.people == who].mean(axis=0) for who in range(people)])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    return float(np.linalg.norm(embeddings - centers[labels.people], axis=1).mean())
