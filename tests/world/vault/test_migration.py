from typing import TYPE_CHECKING

import numpy as np

from acclock.matching.cohort import Cohort
from acclock.matching.verification import verify
from acclock.values import FloatArray, Recording
from acclock.world.vault.checking import check
from acclock.world.vault.migration import migrate

if TYPE_CHECKING:
    from tests.world.vault.conftest import Hearts, Place


def embed(recording: Recording) -> FloatArray:
    """Another model: it sees the first samples of each second."""
    cut = recording.samples[0, :480].reshape(-1, 16)
    return np.asarray(cut / np.linalg.norm(cut, axis=1, keepdims=True))


def test_whoever_kept_a_recording_is_enrolled_anew(place: "Place", hearts: "Hearts") -> None:
    newer = Cohort(embeddings=hearts.directions(200), model="newer")
    recording = hearts.recording()
    with place.open() as vault:
        vault.add("ada", hearts.template(), keep=[recording])
        vault.add("bob", hearts.template())

        result = migrate(vault, embed=embed, cohort=newer)

        assert (result.migrated, result.waiting) == (("ada",), ("bob",))
        assert vault.person("ada").model == "newer"
        assert vault.person("bob").model == "toy"
        template = vault.template("ada")
        np.testing.assert_allclose(template.anchor, template.center)
        assert verify(template, template.center).accepted
        assert migrate(vault, embed=embed, cohort=newer).migrated == ()
        assert [event.kind for event in vault.events()][-1] == "migrated"
        check(vault)
