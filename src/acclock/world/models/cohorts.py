"""The strangers that ship beside a model, so that a new user needs nobody else's data."""

import io
import zipfile
from pathlib import Path

import numpy as np

from acclock.errors import ModelError
from acclock.matching.cohort import Cohort
from acclock.world.models.files import read_model, write_model


def cohort_path(model: Path) -> Path:
    """Give where the cohort of a model lies.

    >>> cohort_path(Path("default.onnx")).name
    'default.cohort.npz'
    """
    return model.with_suffix(".cohort.npz")


def write_cohort(path: Path, cohort: Cohort) -> None:
    """Store a cohort with a manifest beside it, as models are stored."""
    buffer = io.BytesIO()
    # half precision moves a distance by less than 0.001
    embeddings = cohort.embeddings.astype(np.float16)
    np.savez(buffer, embeddings=embeddings, model=np.array(cohort.model))
    write_model(path, buffer.getvalue())


def read_cohort(path: Path, *, model: str) -> Cohort:
    """Read a cohort, unless it was made by another model or a byte of it has changed."""
    try:
        with np.load(io.BytesIO(read_model(path)), allow_pickle=False) as stored:
            embeddings, maker = stored["embeddings"].astype(np.float64), str(stored["model"])
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} is not a cohort of strangers") from error
    if maker != model:
        raise ModelError(f"{path} was made by another model; make a cohort for this one")
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return Cohort(embeddings=embeddings / lengths, model=model)
