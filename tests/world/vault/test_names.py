import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import NameRefusedError
from acclock.world.vault.names import LONGEST, checked, folded


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
