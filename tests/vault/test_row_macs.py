"""Who can write to the database, and has no key, commands nothing."""

import hashlib
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Table, delete, insert, select, update

from acclock.service.auth.tokens import check_token, create_token, revoke_token
from acclock.service.metrics import Metrics
from acclock.service.refusals import RefusedError
from acclock.service.replicas.exchange import (
    ReplicaReply,
    ReplicaReport,
    exchange,
    order_grant,
    take_over,
)
from acclock.service.store import ServiceStore, happenings, orders, replicas, streams, tokens
from acclock.service.streams.snapshots import SessionSnapshot
from acclock.vault.key_rotation import rotate_keys
from acclock.vault.sealing import MAC, has_valid_mac
from acclock.vault.vault import Vault

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place

STREAM, PERSON = "5" * 32, "7" * 32
SIGNED = (tokens, orders, replicas, streams, happenings)


def speak(
    store: ServiceStore, state: str = "locked", *, replica: str = "one", news: bool = False
) -> ReplicaReply:
    """Let a replica that holds one session exchange with the others."""
    snapshot = SessionSnapshot(
        session=STREAM,
        person=PERSON,
        name="",
        device="bud",
        at=time.time(),
        state=state,  # type: ignore[arg-type]
    )
    told = ReplicaReport(
        replica=replica,
        changed={STREAM: ("t" * 16, snapshot)},
        held=frozenset({STREAM}),
        tokens=frozenset(),
        kinds=[("unlocked", snapshot)] if news else [],
        last=None,
    )
    return exchange(store, told)


def listen(store: ServiceStore, *, last: int | None = None, token: str = "") -> ReplicaReply:
    """Let a replica without sessions exchange with the others."""
    told = ReplicaReport(
        replica="two",
        changed={},
        held=frozenset(),
        tokens=frozenset({token}),
        kinds=[],
        last=last,
    )
    return exchange(store, told)


def fill(store: ServiceStore) -> str:
    """Write a row into every table; give the secret of the token."""
    secret, _ = create_token(store, "relying-party", duration_s=600, person=PERSON, may_grant=True)
    take_over(store, PERSON, STREAM)
    speak(store, "unlocked", news=True)
    order_grant(store, STREAM, 60)
    return secret


def copies(store: ServiceStore, table: Table) -> list[dict[str, Any]]:
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(select(table)).mappings()]


def put(store: ServiceStore, table: Table, *rows: Mapping[str, Any]) -> None:
    """Write rows as somebody without the key would: in place of those that are there."""
    with store.writing() as connection:
        connection.execute(delete(table))
        for row in rows:
            connection.execute(insert(table), dict(row))


def refusals(vault: Vault) -> list[str]:
    return [str(event.note) for event in vault.events() if event.kind == "row refused"]


def altered(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case None:
            return "x"
        case _:
            return f"{value}x"


def test_a_mac_holds_for_one_row_as_it_is_and_no_other(place: "Place") -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        fill(store)
        with vault.reading() as transaction:
            key = transaction.row_key
        for table in SIGNED:
            (row,) = copies(store, table)

            assert has_valid_mac(key, table.name, row)
            for column in table.c:
                changed = row | {column.name: altered(row[column.name])}
                assert not has_valid_mac(key, table.name, changed), (table.name, column.name)
            assert not has_valid_mac(key, "acclock_other", row)
            assert not has_valid_mac(bytes(32), table.name, row)


def test_an_inserted_token_is_refused_counted_and_audited(place: "Place") -> None:
    secret = "acclock_" + "x" * 43
    forged = {
        "token": "f" * 16,
        "digest": hashlib.sha256(secret.encode()).hexdigest(),
        "role": "operator",
        "person": None,
        "may_grant": False,
        "note": "",
        "created": time.time(),
        "expires": time.time() + 600,
    }
    with place.open() as vault:
        metrics = Metrics()
        store = ServiceStore(vault, metrics)
        put(store, tokens, forged)

        for _ in range(3):
            with pytest.raises(RefusedError):
                check_token(store, secret)

        assert refusals(vault) == [f"acclock_tokens {'f' * 16}: it has no MAC"]
        assert metrics.counted("refused_rows", "tokens") == 1


def test_a_token_whose_row_was_changed_is_refused(place: "Place") -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        secret, made = create_token(store, "viewer", duration_s=600)
        with store.writing() as connection:
            connection.execute(update(tokens).values(role="operator"))

        with pytest.raises(RefusedError):
            check_token(store, secret)

        assert listen(store, token=made.token).valid == frozenset()
        assert refusals(vault) == [f"acclock_tokens {made.token}: it has a wrong MAC"]


def test_a_revoked_token_that_is_inserted_again_stays_revoked(place: "Place") -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        secret, made = create_token(store, "operator", duration_s=600)
        rows = copies(store, tokens)
        revoke_token(store, made.token)
        put(store, tokens, *rows)

        with pytest.raises(RefusedError):
            check_token(store, secret)

        assert listen(store, token=made.token).valid == frozenset()
        assert refusals(vault) == [f"acclock_tokens {made.token}: it was revoked"]
    with place.open() as vault, pytest.raises(RefusedError):
        check_token(ServiceStore(vault), secret)  # nor does a process believe it that begins later


def test_a_token_of_somebody_who_was_removed_is_worth_nothing(
    place: "Place", hearts: "Hearts"
) -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        ada = vault.add("ada", hearts.template())
        secret, _ = create_token(store, "device", duration_s=600, person=ada.person)
        assert check_token(store, secret).person == ada.person

        vault.remove("ada")

        with pytest.raises(RefusedError):
            check_token(store, secret)
        assert refusals(vault) == []  # it is there still because nobody called the service


def test_two_threads_at_different_events_are_both_served(place: "Place") -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        _, revoked = create_token(store, "viewer", duration_s=600)
        with vault.reading() as earlier:
            revoke_token(store, revoked.token)
            with vault.reading() as later:
                store.revocations.follow(later)
            store.revocations.follow(earlier)

        assert store.revocations.has_revoked(revoked.token)


def test_an_inserted_order_opens_nothing(place: "Place") -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        put(store, orders, {"number": 4, "stream": STREAM, "duration_s": 9.0, "at": time.time()})

        assert speak(store).grants == []

        assert copies(store, orders) == []
        assert refusals(vault) == ["acclock_orders 4: it has no MAC"]


def test_an_order_is_carried_out_once_and_soon(
    place: "Place", monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        order_grant(store, STREAM, 60)
        kept = copies(store, orders)
        assert speak(store).grants == [(STREAM, 60.0)]

        put(store, orders, *kept)
        assert speak(store).grants == []

        order_grant(store, STREAM, 60)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 31)
        assert speak(store).grants == []
        assert store.taken.keys() == {kept[0]["number"]}


def test_an_inserted_session_is_not_believed(place: "Place") -> None:
    status = SessionSnapshot(
        session=STREAM, person=PERSON, name="", device="bud", at=0.0, state="unlocked"
    ).pack()
    row = {"stream": STREAM, "replica": "x", "person": PERSON, "token": "t", "status": status}
    with place.open() as vault:
        store = ServiceStore(vault)
        put(store, streams, row)
        put(store, replicas, {"replica": "x", "beat": 1, "seen": time.time()})

        heard = listen(store)

        assert heard.sessions == {}
        assert set(heard.beats) == {"two"}
        assert len(refusals(vault)) == 2


@pytest.mark.parametrize("with_beat", [False, True])
def test_a_session_that_was_unlocked_before_is_not_believed(
    place: "Place", with_beat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        take_over(store, PERSON, STREAM)
        speak(store, "unlocked")
        assert [one.state for _, one in listen(store).sessions.values()] == ["unlocked"]
        older, beats = copies(store, streams), copies(store, replicas)
        speak(store, "locked")

        put(store, streams, *older)
        if with_beat:  # the beat fits, but it is not of now
            put(store, replicas, *beats)
            now = time.time()
            monkeypatch.setattr(time, "time", lambda: now + 31)

        assert listen(store).sessions == {}
        speak(store, "locked")  # its owner puts the row right
        assert [one.state for _, one in listen(store).sessions.values()] == ["locked"]


def test_a_beat_goes_on_where_somebody_deleted_it(place: "Place") -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        speak(store)
        before = listen(store).beats["one"]
        put(store, replicas)
        speak(store)

        assert listen(store).beats["one"] > before


def test_inserted_news_is_not_told(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    with place.open() as vault:
        store = ServiceStore(vault)
        speak(store, "unlocked", news=True)
        (row,) = copies(store, happenings)
        assert len(listen(store, last=0).changes) == 1

        put(store, happenings, row | {"number": row["number"] + 1})
        assert listen(store, last=0).changes == []

        put(store, happenings, row)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 31)
        assert listen(store, last=0).changes == []


def test_rotating_keys_renews_the_macs_of_valid_rows_alone(place: "Place") -> None:
    with place.open() as vault, place.open() as other:
        store, elsewhere = ServiceStore(vault), ServiceStore(other)
        secret = fill(store)
        listen(elsewhere)
        put(store, orders, *copies(store, orders), {"number": 99} | _order())
        before = {table: copies(store, table) for table in SIGNED}

        rotate_keys(vault)

        for table in SIGNED:
            old = {row[MAC] for row in before[table] if row[MAC]}
            assert old.isdisjoint(row[MAC] for row in copies(store, table))
        for one in (store, elsewhere):
            assert check_token(one, secret).may_grant
        assert len(listen(elsewhere, last=0).changes) == 1
        assert len(listen(elsewhere).sessions) == 1
        assert speak(store).grants == [(STREAM, 60.0)]
        assert refusals(vault) == ["acclock_orders 99: it has no MAC"]


def _order() -> dict[str, object]:
    return {"stream": STREAM, "duration_s": 9.0, "at": time.time()}


def test_a_row_that_is_written_while_keys_rotate_has_a_valid_mac(place: "Place") -> None:
    with place.open() as vault, place.open() as other:
        store, elsewhere = ServiceStore(vault), ServiceStore(other)
        rotating = threading.Thread(target=rotate_keys, args=(other,))
        with store.signing() as rows:
            rotating.start()
            time.sleep(0.5)
            rows.append(orders, _order())
        rotating.join(20.0)

        assert speak(elsewhere).grants == [(STREAM, 9.0)]


def test_a_flood_of_rows_fills_no_log(place: "Place") -> None:
    with place.open() as vault:
        metrics = Metrics()
        store = ServiceStore(vault, metrics)
        for first in range(0, 300, 100):
            put(store, orders, *({"number": first + n + 1} | _order() for n in range(100)))
            speak(store)

        assert refusals(vault) == ["acclock_orders 1: it has no MAC and 99 more"]
        assert metrics.counted("refused_rows", "orders") == 300
