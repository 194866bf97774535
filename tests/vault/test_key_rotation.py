from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from acclock.errors import VaultError
from acclock.matching.template import Template
from acclock.matching.verification import verify
from acclock.vault.key_rotation import reissue, rotate_keys
from acclock.vault.opening import check

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

Same = Callable[[Template, Template], bool]


def stored_center(place: "Place") -> Any:  # noqa: ANN401 - JSON
    with place.open() as vault:
        return vault.export("ada")["templates"][0]["center"]  # type: ignore[index]


@pytest.mark.parametrize("change", [rotate_keys, reissue])
def test_new_keys_change_nothing_for_the_user(
    place: "Place", hearts: "Hearts", same_template: Same, change: Callable[..., None]
) -> None:
    templates, recording = [hearts.template(), hearts.template()], hearts.recording()
    with place.open() as vault:
        vault.add("ada", templates[0], keep=[recording])
        vault.revise("ada", templates[1], after=1)

        change(vault)
        change(vault)

        assert same_template(vault.template("ada", 1), templates[0])
        assert same_template(vault.template("ada"), templates[1])
        assert len(vault.kept("ada")) == 1
    with place.open() as vault:
        assert check(vault).versions == 2


def test_the_old_key_opens_nothing_after_a_rotation(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        old = place.keys.read()
        rotate_keys(vault)
        new = place.keys.read()
    assert len(new) == 1
    assert old.keys().isdisjoint(new)

    place.keys.write(old)

    with pytest.raises(VaultError, match="not the key to this vault"):
        place.open()


def test_another_program_goes_on_with_the_new_keys(place: "Place", hearts: "Hearts") -> None:
    template = hearts.template()
    with place.open() as one, place.open() as two:
        one.add("ada", template)
        two.template("ada")

        rotate_keys(one)
        reissue(one)

        assert verify(two.template("ada"), hearts.windows(template.center, 5)).accepted
        two.add("bob", hearts.template())
        assert check(one).people == 2


def test_a_stolen_template_fits_nothing_after_it_was_issued_anew(
    place: "Place", hearts: "Hearts"
) -> None:
    template = hearts.template()
    with place.open() as vault:
        vault.add("ada", template)
    stolen = stored_center(place)

    with place.open() as vault:
        reissue(vault)

    again = stored_center(place)
    assert np.linalg.norm(np.subtract(stolen, again)) > template.threshold
    assert not verify(template, stolen).accepted


def test_a_stolen_template_fits_no_other_vault(
    files: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    template, other = hearts.template(), type(files)(folder=tmp_path / "other")
    for place in (files, other):
        with place.open() as vault:
            vault.add("ada", template)

    here, there = stored_center(files), stored_center(other)

    assert np.linalg.norm(np.subtract(here, there)) > template.threshold
