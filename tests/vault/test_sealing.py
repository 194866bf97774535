import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import DamagedVaultError
from acclock.vault.sealing import new_key, same, seal, sign, unseal

PLACES = st.lists(st.one_of(st.text(max_size=5), st.integers(0, 9)), max_size=4).map(tuple)


@given(plain=st.binary(max_size=100), place=PLACES)
def test_what_is_sealed_opens_in_its_place(plain: bytes, place: tuple[str | int, ...]) -> None:
    key = new_key()

    assert unseal(key, seal(key, plain, *place), *place) == plain


@given(here=PLACES, there=PLACES)
def test_it_opens_nowhere_else(here: tuple[str | int, ...], there: tuple[str | int, ...]) -> None:
    key = new_key()
    sealed = seal(key, b"center", *here)

    if here != there:
        with pytest.raises(DamagedVaultError):
            unseal(key, sealed, *there)


@given(flip=st.integers(0, 8 * 33 - 1))
def test_one_changed_bit_is_noticed(flip: int) -> None:
    key = new_key()
    sealed = bytearray(seal(key, b"12345", "place"))
    sealed[flip // 8] ^= 1 << flip % 8

    with pytest.raises(DamagedVaultError):
        unseal(key, bytes(sealed), "place")


@pytest.mark.parametrize("rubbish", [None, 7, 2.5, "text", b"", b"short", bytes(28)])
def test_rubbish_is_refused(rubbish: object) -> None:
    with pytest.raises(DamagedVaultError):
        unseal(new_key(), rubbish, "place")


def test_another_key_does_not_open() -> None:
    with pytest.raises(DamagedVaultError):
        unseal(new_key(), seal(new_key(), b"center", "place"), "place")


def test_equal_content_never_looks_equal() -> None:
    key = new_key()

    assert len({seal(key, b"center", "place") for _ in range(100)}) == 100


def test_a_signature_is_of_one_key_and_one_content() -> None:
    key = new_key()

    assert same(sign(key, "a", 1), sign(key, "a", 1))
    assert not same(sign(key, "a", 1), sign(key, "a", "1"))
    assert not same(sign(key, "ab"), sign(key, "a", "b"))
    assert not same(sign(new_key(), "a"), sign(key, "a"))
    assert not same(None, sign(key, "a"))
