import asyncio
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import Key

from acclock.access import signed_tokens
from acclock.access.grants import GrantRegister, issue_grant
from acclock.access.signed_tokens import ASSERTION, GRANT, ValidityPeriod, read_token, sign_token
from acclock.access.signing_keys import signing_key
from acclock.errors import ConfigError, GrantError
from acclock.live.grants import Grant
from acclock.system import boot_clock


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return signing_key(tmp_path, "grants")


def altered(token: str, **changes: object) -> str:
    """A token whose claims somebody changed without the key."""
    header, payload, signature = token.split(".")
    claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    again = urlsafe_b64encode(json.dumps(claims | changes).encode()).rstrip(b"=").decode()
    return f"{header}.{again}.{signature}"


def test_a_grant_opens_once_and_ends_when_it_says(key: Key) -> None:
    book = GrantRegister("anna", key=key)
    token = issue_grant("anna", duration_s=60.0, key=key)

    grant = book.redeem(token, now_s=1000.0)

    assert grant.person == "anna"
    assert 1059.0 < grant.expires_s <= 1060.0
    with pytest.raises(GrantError, match="used already"):
        book.redeem(token, now_s=1000.0)


def test_a_grant_for_another_person_opens_nothing(key: Key) -> None:
    token = issue_grant("ben", duration_s=60.0, key=key)

    with pytest.raises(GrantError, match="somebody else than anna"):
        GrantRegister("anna", key=key).redeem(token, now_s=0.0)


@pytest.mark.parametrize("written", ["anna", "ANNA", "Anna", "Ａnna"])
def test_a_name_is_the_same_person_here_as_in_the_vault(written: str, key: Key) -> None:
    book = GrantRegister("Anna", key=key)

    grant = book.redeem(issue_grant(written, duration_s=10.0, key=key), now_s=0.0)

    assert grant.person == "Anna"


def test_a_grant_does_not_outlive_its_time_whatever_the_wall_clock_says(
    key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = GrantRegister("anna", key=key)
    token = issue_grant("anna", duration_s=0.05, key=key)
    time.sleep(0.06)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(signed_tokens, "time", lambda: 0.0)

    with pytest.raises(GrantError, match="its time is over"):
        book.redeem(token, now_s=0.0)


def test_a_grant_of_before_the_start_opens_nothing(key: Key) -> None:
    token = issue_grant("anna", duration_s=60.0, key=key)
    time.sleep(0.01)

    with pytest.raises(GrantError, match="before this monitor started"):
        GrantRegister("anna", key=key).redeem(token, now_s=0.0)


def test_a_grant_of_another_boot_opens_nothing(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    book = GrantRegister("anna", key=key)
    token = issue_grant("anna", duration_s=60.0, key=key)
    monkeypatch.setattr(signed_tokens, "this_boot", lambda: "another")

    with pytest.raises(GrantError, match="before this machine started"):
        book.redeem(token, now_s=0.0)


@pytest.mark.parametrize(
    "changes", [{"sub": "anna"}, {"until_ms": 1 << 50}, {"jti": "new"}, {"aud": "acclock-monitor"}]
)
def test_a_grant_that_was_changed_opens_nothing(changes: dict[str, object], key: Key) -> None:
    book = GrantRegister("anna", key=key)
    token = issue_grant("ben", duration_s=60.0, key=key)

    with pytest.raises(GrantError, match="signature"):
        book.redeem(altered(token, **changes, extra=1), now_s=0.0)


def test_a_grant_of_another_key_opens_nothing(key: Key, tmp_path: Path) -> None:
    token = issue_grant("anna", duration_s=60.0, key=signing_key(tmp_path / "else", "grants"))

    with pytest.raises(GrantError, match="signature"):
        GrantRegister("anna", key=key).redeem(token, now_s=0.0)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "a.b.c",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm5hIn0.",
        "eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
        "é" * 100,
    ],
)
def test_garbage_opens_nothing(token: str, key: Key) -> None:
    with pytest.raises(GrantError):
        GrantRegister("anna", key=key).redeem(token, now_s=0.0)


def test_an_assertion_is_no_grant(key: Key) -> None:
    start = boot_clock.now_ms()
    span = ValidityPeriod(from_ms=start, until_ms=start + 1000)
    token = sign_token(ASSERTION, {"sub": "anna", "aud": "acclock-monitor", "jti": "1"}, span, key)

    with pytest.raises(GrantError, match="this is not an acclock-grant"):
        GrantRegister("anna", key=key).redeem(token, now_s=0.0)


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ({"until_ms": None}, "how long it holds"),
        ({"until_ms": 1.5}, "how long it holds"),
        ({"until_ms": True}, "how long it holds"),
        ({"until_ms": 10_000_000}, "more than 600 s"),
        ({"from_ms": 5000}, "its time is over, or has not come"),
    ],
)
def test_a_signed_grant_without_a_sound_span_is_refused(
    claims: dict[str, object], sentence: str, key: Key
) -> None:
    said = {"boot": boot_clock.this_boot(), "from_ms": 0, "until_ms": 6000} | claims
    token = jwt.encode({"alg": "Ed25519", "typ": GRANT.type}, said, key, algorithms=["Ed25519"])

    with pytest.raises(GrantError, match=sentence):
        read_token(GRANT, token, key, at_ms=3000)


@pytest.mark.parametrize("duration_s", [0.0, -1.0, 601.0, float("nan"), float("inf")])
def test_a_grant_without_end_is_not_made(duration_s: float, key: Key) -> None:
    with pytest.raises(ConfigError, match="lasts up to 600 s"):
        issue_grant("anna", duration_s=duration_s, key=key)


def test_the_socket_hands_a_grant_to_the_session(key: Key) -> None:
    taken = list[Grant]()

    async def take(grant: Grant) -> None:
        taken.append(grant)

    async def ask() -> dict[str, Any]:
        answer = GrantRegister("anna", key=key).answers(take, now_s=lambda: 7.0)
        return await answer({"ask": "grant", "grant": issue_grant("anna", duration_s=1.0, key=key)})

    assert asyncio.run(ask()) == {"granted": "anna"}
    assert [grant.person for grant in taken] == ["anna"]
