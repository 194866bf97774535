"""What a vault promises, on SQLite and on PostgreSQL alike."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.errors import NameRefusedError, VaultError
from acclock.matching.template import Template
from acclock.matching.verification import verify
from acclock.vault.opening import check

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

Same = Callable[[Template, Template], bool]


def test_what_is_enrolled_is_there_after_reopening(
    place: "Place", hearts: "Hearts", same_template: Same
) -> None:
    people = {f"person {number}": hearts.template() for number in range(5)}
    with place.open() as vault:
        for name, template in people.items():
            vault.add(name, template)

    with place.open() as vault:
        assert [person.name for person in vault.people()] == sorted(people)
        assert all(same_template(vault.template(name), people[name]) for name in people)
        assert check(vault).people == 5


def test_a_stored_template_gives_the_same_verdicts(place: "Place", hearts: "Hearts") -> None:
    template = hearts.template()
    with place.open() as vault:
        vault.add("ada", template)
        loaded = vault.template("ada")

    for query in (hearts.windows(template.center, 5), hearts.windows(hearts.directions(1)[0], 5)):
        before, after = verify(template, query), verify(loaded, query)
        assert before.accepted is after.accepted
        assert before.distance == pytest.approx(after.distance, abs=1e-12)


@pytest.mark.parametrize("again", ["ada", "ADA", "ａｄａ"])
def test_a_name_is_given_once(place: "Place", hearts: "Hearts", again: str) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())

        with pytest.raises(NameRefusedError, match="is taken"):
            vault.add(again, hearts.template())
        assert len(vault.people()) == 1


def test_an_unknown_name_is_named(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())

        acts = (
            vault.template,
            vault.person,
            vault.remove,
            vault.kept,
            vault.export,
        )
        for act in acts:
            with pytest.raises(NameRefusedError, match="nobody is enrolled under the name 'bob'"):
                act("bob")


def test_every_version_is_kept_and_one_can_go_back(
    place: "Place", hearts: "Hearts", same_template: Same
) -> None:
    versions = [hearts.template() for _ in range(4)]
    with place.open() as vault:
        vault.add("ada", versions[0])
        for number, template in enumerate(versions[1:], 1):
            vault.revise("ada", template, after=number)
        vault.roll_back("ada", 2)

        assert vault.person("ada").version == 5
        stored = [vault.template("ada", number) for number in range(1, 6)]
        assert all(map(same_template, stored, [*versions, versions[1]]))
        assert same_template(vault.template("ada"), versions[1])
        with pytest.raises(NameRefusedError, match="ada has no version 6, only 1 to 5"):
            vault.roll_back("ada", 6)


def test_of_two_changes_to_one_version_the_second_is_refused(
    place: "Place", hearts: "Hearts"
) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        vault.revise("ada", hearts.template(), after=1)

        with pytest.raises(VaultError, match="changed meanwhile: version 2, not 1"):
            vault.revise("ada", hearts.template(), after=1)


def test_whoever_is_removed_is_gone_and_the_name_is_free(
    place: "Place", hearts: "Hearts", same_template: Same
) -> None:
    other = hearts.template()
    with place.open() as vault:
        vault.add("ada", hearts.template(), keep=[hearts.recording()])
        vault.add("bob", other)

        assert vault.remove("ada")

        assert [person.name for person in vault.people()] == ["bob"]
        assert same_template(vault.template("bob"), other)
        vault.add("ada", hearts.template())
        assert vault.person("ada").version == 1
        assert check(vault).people == 2


def test_kept_recordings_come_back(place: "Place", hearts: "Hearts") -> None:
    recordings = [hearts.recording(), hearts.recording()]
    with place.open() as vault:
        vault.add("ada", hearts.template(), keep=recordings)
        vault.add("bob", hearts.template())

        assert vault.kept("bob") == []
        for before, after in zip(recordings, vault.kept("ada"), strict=True):
            np.testing.assert_allclose(before.samples, after.samples, rtol=1e-6)
            np.testing.assert_array_equal(before.received, after.received)
            assert (before.rate_hz, before.start, before.ear) == (
                after.rate_hz,
                after.start,
                after.ear,
            )


def test_an_export_holds_everything_about_one_person_and_nothing_about_another(
    place: "Place", hearts: "Hearts"
) -> None:
    with place.open() as vault:
        vault.add("bob", hearts.template())
        vault.add("ada", hearts.template(), keep=[hearts.recording()])
        vault.revise("ada", hearts.template(), after=1)
        bob = vault.person("bob").person

        export = vault.export("ada")

        text = json.dumps(export)
        assert bob not in text
        assert "bob" not in text
        assert export["name"] == "ada"
        assert [kept["version"] for kept in export["templates"]] == [1, 2]  # type: ignore[attr-defined]
        assert len(export["recordings"][0]["samples"]) == 3  # type: ignore[index]
        kinds = [event["kind"] for event in export["events"]]  # type: ignore[attr-defined]
        assert kinds == ["enrolled", "updated", "exported"]


def test_an_exported_center_is_not_the_models(place: "Place", hearts: "Hearts") -> None:
    template = hearts.template()
    with place.open() as vault:
        vault.add("ada", template)

        exported = vault.export("ada")["templates"][0]["center"]  # type: ignore[index]

    # a secret rotation: it may land near by chance, but not where it was
    assert np.linalg.norm(np.asarray(exported) - template.center) > 0.1


def test_the_log_tells_what_happened_without_names_or_numbers_of_the_body(
    place: "Place", hearts: "Hearts"
) -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        vault.revise("ada", hearts.template(), after=1, kind="extended")
        vault.roll_back("ada", 1)
        vault.remove("ada")

        events = vault.events()

    assert [event.kind for event in events] == [
        "created",
        "enrolled",
        "extended",
        "rolled back to version 1",
        "removed",
    ]
    assert [event.number for event in events] == [1, 2, 3, 4, 5]
    assert all("ada" not in event.as_text() for event in events)


def test_two_programs_see_each_others_changes(place: "Place", hearts: "Hearts") -> None:
    with place.open() as one, place.open() as two:
        one.add("ada", hearts.template())
        two.add("bob", hearts.template())

        assert [person.name for person in one.people()] == ["ada", "bob"]
        two.remove("ada")
        with pytest.raises(NameRefusedError):
            one.template("ada")
        assert check(one) == check(two)


def test_a_template_of_another_model_is_stored_beside(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        vault.revise("ada", replace(hearts.template(), model="newer"), after=1, kind="migrated")

        assert vault.person("ada").model == "newer"
        assert vault.template("ada", 1).model == "toy"


def test_many_are_enrolled_at_once_or_none(place: "Place", hearts: "Hearts") -> None:
    crowd = {f"p{number}": hearts.template() for number in range(10)}
    with place.open() as vault:
        assert len(vault.add_all(crowd)) == 10

        for bad in ({"new": hearts.template(), "p3": hearts.template()},
                    {"new": hearts.template(), "NEW": hearts.template()},
                    {"new": hearts.template(), "": hearts.template()}):  # fmt: skip
            with pytest.raises(NameRefusedError):
                vault.add_all(bad)
        assert check(vault).people == 10


def test_a_refused_name_stays_alone_with_its_refusal(place: "Place", hearts: "Hearts") -> None:
    template = hearts.template()

    def add(number: int) -> bool:
        try:
            vault.add("p0" if number % 4 == 0 else f"p{number}", template)
        except NameRefusedError:
            return False
        return True

    with place.open() as vault, ThreadPoolExecutor(8) as threads:
        enrolled = list(threads.map(add, range(40)))

        assert check(vault).people == 31
    assert sum(enrolled) == 31


def test_threads_may_share_a_vault(place: "Place", hearts: "Hearts") -> None:
    template = hearts.template()
    with place.open() as vault, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: vault.add(f"p{number}", template), range(20)))

        assert check(vault).people == 20
