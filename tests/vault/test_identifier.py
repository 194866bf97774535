from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acclock.vault.backup import back_up
from acclock.vault.identifier import Identifier
from acclock.vault.key_rotation import reissue

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


def test_everybody_in_the_vault_is_named(place: "Place", hearts: "Hearts") -> None:
    stored = {f"p{number}": hearts.template() for number in range(6)}
    with place.open() as vault:
        for name, template in stored.items():
            vault.add(name, template)

        identifier = Identifier(vault, model="toy")

        for name, template in stored.items():
            assert identifier.identify(hearts.windows(template.center, 5)).name == name


def test_it_learns_of_every_change_that_another_program_makes(
    place: "Place", hearts: "Hearts", tmp_path: Path
) -> None:
    ada, newer, bob = (hearts.template() for _ in range(3))

    def found() -> list[str | None]:
        queries = (hearts.windows(template.center, 5) for template in (ada, newer, bob))
        return [identifier.identify(query).name for query in queries]

    with place.open() as vault, place.open() as other:
        identifier = Identifier(vault, model="toy")
        assert found() == [None, None, None]
        other.add("ada", ada)
        assert found() == ["ada", None, None]
        back_up(other, tmp_path / "backup")
        other.add("bob", bob)
        other.revise("ada", newer, after=1)
        assert found() == [None, "ada", "bob"]
        reissue(other)
        assert found() == [None, "ada", "bob"]
        other.remove("ada")
        assert found() == [None, None, "bob"]
        assert len(identifier) == 1
        place.restore(tmp_path / "backup").close()
        assert found() == ["ada", None, None]


def test_people_of_another_model_are_left_out(place: "Place", hearts: "Hearts") -> None:
    template = hearts.template()
    with place.open() as vault:
        vault.add("ada", template)
        identifier = Identifier(vault, model="toy")
        assert len(identifier) == 1

        vault.revise("ada", replace(template, model="newer"), after=1, kind="migrated")

        assert len(identifier) == 0
        assert identifier.identify(hearts.windows(template.center, 5)).name is None
