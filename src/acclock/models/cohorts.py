"""The strangers that ship beside a model, so that a new user needs nobody else's data."""

import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from acclock.errors import ConfigError, ModelError
from acclock.matching.cohort import Cohort, StrangerKind, VariationLevels
from acclock.models.files import read_model, write_model


def cohort_path(model: Path) -> Path:
    """Give where the cohort of a model lies.

    >>> cohort_path(Path("default.onnx")).name
    'default.cohort.npz'
    """
    return model.with_suffix(".cohort.npz")


def write_cohort(path: Path, cohort: Cohort) -> None:
    """Store a cohort with a manifest beside it, as models are stored."""
    about = {
        "model": cohort.model,
        "kinds": [asdict(kind) for kind in cohort.kinds],
        "people": cohort.people,
    }
    buffer = io.BytesIO()
    # half precision moves a distance by less than 0.001
    embeddings = cohort.embeddings.astype(np.float16)
    np.savez(buffer, embeddings=embeddings, about=np.array(json.dumps(about)))
    write_model(path, buffer.getvalue())


def read_cohort(path: Path, *, model: str) -> Cohort:
    """Read a cohort, unless it was made by another model or a byte of it has changed."""
    try:
        with np.load(io.BytesIO(read_model(path)), allow_pickle=False) as stored:
            embeddings = stored["embeddings"].astype(np.float64)
            # files of the first version know their model and nothing else
            about = json.loads(str(stored["about"])) if "about" in stored else {}
            maker = about.get("model", str(stored["model"]) if "model" in stored else None)
        kinds = tuple(_read_kind(kind) for kind in about.get("kinds", ()))
        people = tuple(str(person) for person in about.get("people", ()))
    except (ValueError, KeyError, TypeError, ConfigError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} is not a cohort of strangers") from error
    if maker != model:
        raise ModelError(f"{path} was made by another model; make a cohort for this one")
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return Cohort(embeddings=embeddings / lengths, model=model, kinds=kinds, people=people)


def _read_kind(told: dict[str, Any]) -> StrangerKind:
    levels = told.get("levels")  # files of the second version do not have them
    return StrangerKind(**told | {"levels": None if levels is None else VariationLevels(**levels)})
