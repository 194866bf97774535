"""A damaged image is refused or is as it was; it never gives anybody another's template."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acclock.errors import AccLockError
from acclock.matching.template import Template

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

Same = Callable[[Template, Template], bool]
PEOPLE = 12


def prepare(place: "Place", hearts: "Hearts", image: Path) -> dict[str, list[Template]]:
    """Make an image with rows in the database and rows that are only in its log as yet."""
    stored: dict[str, list[Template]] = {}
    with place.open() as vault:
        for number in range(PEOPLE):
            stored[f"p{number}"] = [hearts.template()]
            vault.add(f"p{number}", stored[f"p{number}"][0])
    with place.open() as vault:
        for number in range(0, PEOPLE, 2):
            stored[f"p{number}"].append(hearts.template())
            vault.revise(f"p{number}", stored[f"p{number}"][1], after=1)
        shutil.copytree(place.folder, image)
    return stored


def flip(content: bytearray, rng: random.Random) -> None:
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def overwrite(content: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(content))
    content[start : start + 64] = rng.randbytes(len(content[start : start + 64]))


def blank_page(content: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(content)) // 4096 * 4096
    content[start : start + 4096] = bytes(len(content[start : start + 4096]))


def swap_pages(content: bytearray, rng: random.Random) -> None:
    one, two = (rng.randrange(max(len(content) // 4096, 1)) * 4096 for _ in range(2))
    first, second = content[one : one + 4096], content[two : two + 4096]
    content[one : one + 4096], content[two : two + 4096] = second, first


def cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content)) :]


DAMAGES = (flip, overwrite, blank_page, swap_pages, cut)


def damage(image: Path, rng: random.Random) -> None:
    path = image / rng.choice(["vault.db", "vault.db", "vault.db-wal"])
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 3, 20])):
        if content:
            rng.choice(DAMAGES)(content, rng)
    path.write_bytes(content)


def look(place: "Place", stored: dict[str, list[Template]], same_template: Same) -> str:
    """Read everybody; whatever comes back must have been theirs at some time."""
    seen = "whole"
    try:
        with place.open(patience_s=0.1) as vault:
            names = [person.name for person in vault.people()]
            assert names == sorted(stored)
            for name, versions in stored.items():
                loaded = vault.template(name)
                assert any(same_template(loaded, version) for version in versions)
    except AccLockError as refusal:
        seen = "refused" if "\n" not in str(refusal) else "babbled"
    return seen


def break_many(
    place: "Place", hearts: "Hearts", same_template: Same, tmp_path: Path, *, images: range
) -> list[str]:
    stored, results = prepare(place, hearts, tmp_path / "image"), []
    for seed in images:
        victim = type(place)(folder=tmp_path / "victim")
        shutil.copytree(tmp_path / "image", victim.folder)
        damage(victim.folder, random.Random(seed))  # noqa: S311
        results.append(look(victim, stored, same_template))
        shutil.rmtree(victim.folder)
    return results


def test_forty_damaged_images(
    files: "Place", hearts: "Hearts", same_template: Same, tmp_path: Path
) -> None:
    results = break_many(files, hearts, same_template, tmp_path, images=range(40))

    assert {"refused", "whole"} == set(results)


@pytest.mark.slow
def test_five_hundred_damaged_images(
    files: "Place", hearts: "Hearts", same_template: Same, tmp_path: Path
) -> None:
    results = break_many(files, hearts, same_template, tmp_path, images=range(1000, 1500))

    assert {"refused", "whole"} == set(results)
