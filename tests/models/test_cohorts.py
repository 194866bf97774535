"""A cohort comes back as it was written, and knows whom it was made from."""

import io
from pathlib import Path

import numpy as np
import pytest

from acclock.errors import ModelError, TooFewError
from acclock.matching.cohort import Cohort, StrangerKind, VariationLevels, hash_stranger
from acclock.models.cohorts import read_cohort, write_cohort
from acclock.models.files import find_model, write_model
from acclock.models.strangers import blend, gather_strangers

STRANGERS = Cohort(
    embeddings=np.eye(8),
    model="toy",
    kinds=(
        StrangerKind(
            name="simulated",
            count=3,
            widest=0.4,
            levels=VariationLevels(person=0.3, session=0.1, window=0.5),
        ),
        StrangerKind(name="real", count=5, widest=0.9),
    ),
    people=(hash_stranger("real/anna", model="toy"),),
)


def test_a_cohort_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_cohort(tmp_path / "a.cohort.npz", STRANGERS)

    read = read_cohort(tmp_path / "a.cohort.npz", model="toy")

    np.testing.assert_allclose(read.embeddings, STRANGERS.embeddings)
    assert (read.model, read.kinds, read.people) == ("toy", STRANGERS.kinds, STRANGERS.people)
    assert read.was_made_from("real/anna")
    assert not read.was_made_from("real/bert")


def test_no_name_is_in_the_file(tmp_path: Path) -> None:
    write_cohort(tmp_path / "a.cohort.npz", STRANGERS)

    assert b"anna" not in (tmp_path / "a.cohort.npz").read_bytes()


def test_a_cohort_of_the_first_version_is_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, embeddings=np.eye(4), model=np.array("toy"))
    write_model(tmp_path / "a.cohort.npz", buffer.getvalue())

    read = read_cohort(tmp_path / "a.cohort.npz", model="toy")

    assert (len(read), read.kinds, read.people) == (4, (), ())
    with pytest.raises(ModelError, match="another model"):
        read_cohort(tmp_path / "a.cohort.npz", model="other")


def test_what_is_no_cohort_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "a.cohort.npz", b"nothing of the kind")

    with pytest.raises(ModelError, match="not a cohort"):
        read_cohort(tmp_path / "a.cohort.npz", model="toy")


def test_two_people_are_too_few_to_hide_in_a_blend() -> None:
    with pytest.raises(TooFewError, match="2 people to blend; this needs at least 3"):
        blend([np.eye(4), np.eye(4)], np.random.default_rng(0))


@pytest.mark.parametrize("model", ["default", "default-25"])
def test_a_cohort_is_made_with_its_limits_and_its_people(model: str) -> None:
    made = gather_strangers(str(find_model(model)), data=(), simulated=3, seed=4242)

    (kind,) = made.kinds
    assert (kind.name, kind.count, len(made)) == ("simulated", 24, 24)
    assert 0.0 < kind.widest < 2.0
    assert made.was_made_from("simulated/simulated-4242-000")
    assert not made.was_made_from("simulated/simulated-4242-003")
