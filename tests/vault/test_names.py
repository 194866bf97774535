import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import NameRefusedError
from acclock.vault.names import LONGEST, appearances, checked, folded

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("\n", "empty"),
        (" ada", "spaces at its ends"),
        ("ada ", "spaces at its ends"),
        ("a  b", "two in a row"),
        ("x" * (LONGEST + 1), "at most 64 characters; this has 65"),
        ("a\nb", r"U\+000A"),
        ("a\x00b", r"U\+0000"),
        ("a/b", r"U\+002F"),
        ("..\\b", r"U\+005C"),
        ("a\u202eb", r"U\+202E"),
        ("a\u200bb", r"U\+200B"),
        ("a\ufe0f", r"U\+FE0F"),
        ("a\u3164", r"U\+3164"),
        ("a\u034fb", r"U\+034F"),
        ("a\ud800", r"U\+D800"),
        ("a;DROP", r"U\+003B"),
        ("a\x1b[31m", r"U\+001B"),
        ("<b>", r"U\+003C"),
        ("-rf", "begins with"),
        (".hidden", "begins with"),
        ("=1+1", r"U\+003D"),
    ],
)
def test_a_hostile_name_is_refused(name: str, refusal: str) -> None:
    with pytest.raises(NameRefusedError, match=refusal):
        checked(name)


@pytest.mark.parametrize(
    "name", ["ada", "Zoë", "李雷", "O'Brien", "anna-maria", "user_7", "a@b.org"]
)
def test_a_real_name_stays_as_it_is(name: str) -> None:
    assert checked(name) == name


def form_or_refusal(name: str) -> str:
    try:
        return checked(name)
    except NameRefusedError as refusal:
        return str(refusal)


@given(name=st.text(max_size=80))
def test_a_name_is_in_its_normal_form_or_refused_in_a_sentence(name: str) -> None:
    normal = form_or_refusal(name)

    if not normal.startswith("a name "):
        assert checked(normal) == normal
        assert normal.isprintable()
        assert folded(normal) == folded(name)


LOOK_ALIKES = [
    ("anna", "\u0430nna"),  # Cyrillic
    ("anna", "\u0391NNA"),  # Greek
    ("Ida", "lda"),
    ("Otto", "0tto"),
    ("Arnold", "Amold"),
    ("ali1", "ali\u0661"),  # Arabic
    ("Ivan", "lv\u0410n"),
    ("Zo\u00eb", "Z\u043e\u00eb"),
]


@pytest.mark.parametrize(("name", "other"), LOOK_ALIKES)
def test_names_that_look_alike_share_an_appearance(name: str, other: str) -> None:
    assert folded(name) != folded(other)
    assert appearances(name) & appearances(other)


@pytest.mark.parametrize(
    ("name", "other"), [("anna", "hanna"), ("zoe", "Zo\u00eb"), ("李雷", "李磊"), ("p1", "p2")]
)
def test_names_that_do_not_look_alike_share_none(name: str, other: str) -> None:
    assert not appearances(name) & appearances(other)


@given(name=st.text(max_size=20))
def test_a_name_looks_like_itself_however_it_is_composed(name: str) -> None:
    once = appearances(name)

    assert appearances(unicodedata.normalize("NFD", name)) & once
    assert once <= {look for one in once for look in appearances(one)}


@pytest.mark.parametrize(("name", "other"), LOOK_ALIKES)
@pytest.mark.parametrize("swap", [False, True])
def test_a_name_that_looks_like_one_that_is_taken_is_refused(
    files: "Place", hearts: "Hearts", name: str, other: str, swap: bool
) -> None:
    first, second = (other, name) if swap else (name, other)
    template = hearts.template()
    with files.open() as vault:
        vault.add(first, template)
        for add in (lambda: vault.add(second, template), lambda: vault.add_all({second: template})):
            with pytest.raises(NameRefusedError, match=f"looks like '{first}', which is taken"):
                add()
    with files.open() as vault, pytest.raises(NameRefusedError, match="looks like"):
        vault.add(second, template)  # nor after the program was started again

    with files.open() as vault:
        vault.remove(first)
        vault.add(second, template)
        assert [person.name for person in vault.people()] == [second]


def test_two_newcomers_that_look_alike_are_both_refused(files: "Place", hearts: "Hearts") -> None:
    template = hearts.template()
    with files.open() as vault:
        with pytest.raises(NameRefusedError, match="looks like"):
            vault.add_all({"anna": template, "\u0430nna": template})
        assert vault.people() == []
