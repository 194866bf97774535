"""What replicas write down for each other, one short transaction at a time."""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, delete, func, select, text

from acclock.service.auth.tokens import keep_tokens
from acclock.service.store import (
    ServiceStore,
    SignedRows,
    current,
    happenings,
    orders,
    rates,
    receipts,
    replicas,
    streams,
    tokens,
)
from acclock.service.streams.snapshots import SessionSnapshot, UnreadableRowError
from acclock.vault.sealing import MAC

_CLAIM = text(
    "INSERT INTO acclock_current (person, stream, at) VALUES (:person, :stream, :at) "
    "ON CONFLICT (person) DO UPDATE SET stream = :stream, at = :at"
)


def take_over(store: ServiceStore, person: str, stream: str) -> None:
    """Make a stream the session of a person, in the place of whichever was it before.

    One row per person, replaced in one statement: of two replicas that do this at once, the one
    whose transaction the database puts last has the session, and both will read the same row.
    """
    with store.writing() as connection:
        connection.execute(_CLAIM, {"person": person, "stream": stream, "at": time.time()})


def current_stream(store: ServiceStore, person: str) -> str | None:
    """Give the stream that is the session of a person, or was the last one to be."""
    with store.reading() as connection:
        query = select(current.c.stream).where(current.c.person == person)
        return connection.execute(query).scalar()


def find_superseded(connection: Connection, held: frozenset[str]) -> frozenset[str]:
    """Give those of the streams in whose place another has come."""
    query = select(current.c.stream).where(current.c.stream.in_(held))
    return held - frozenset(connection.execute(query).scalars())


def clear_current(connection: Connection, *, before: float) -> None:
    """Drop the rows of streams that ended before a time."""
    ended = current.c.stream.not_in(select(streams.c.stream))
    connection.execute(delete(current).where(current.c.at < before, ended))


_SESSION = ("stream", "replica", "person", "token", "status")
_BEAT = text(
    "INSERT INTO acclock_replicas (replica, beat, seen, sessions, mac) "
    "VALUES (:replica, :beat, :seen, :sessions, :mac) ON CONFLICT (replica) "
    "DO UPDATE SET beat = :beat, seen = :seen, sessions = :sessions, mac = :mac"
)
_WRITE = text(
    "INSERT INTO acclock_streams (stream, replica, person, token, status, mac) "
    "VALUES (:stream, :replica, :person, :token, :status, :mac) ON CONFLICT (stream) "
    "DO UPDATE SET replica = :replica, person = :person, token = :token, status = :status, "
    "mac = :mac"
)
_HOUR_S, _DAY_S = 3600.0, 86400.0
_FRESH_S = 30.0
"""How old an order, a beat or the news of an opened session may be, and how far the clocks of
replicas may differ: a row that somebody kept and inserts again later is not believed."""

Read = TypeVar("Read")
Written = TypeVar("Written")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaReport:
    """What one replica has to say since it last spoke."""

    replica: str
    changed: Mapping[str, tuple[str, SessionSnapshot]]
    """Sessions that stand otherwise now, each with the number of its token."""
    unchanged: Mapping[str, tuple[str, SessionSnapshot]] = field(default_factory=dict)
    """The others, as they were last written down."""
    held: frozenset[str]
    """All sessions that it holds."""
    tokens: frozenset[str]
    kinds: Sequence[tuple[str, SessionSnapshot]]
    """Changes to tell of."""
    last: int | None
    """The last change that it has heard of; nothing when it has only just begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaReply:
    """What it hears in return."""

    beats: Mapping[str, int]
    sessions: Mapping[str, tuple[str, SessionSnapshot]]
    """Of others, each with its replica."""
    changes: Sequence[tuple[str, SessionSnapshot]]
    last: int
    grants: Sequence[tuple[str, float]]
    """Sessions to open, and for how long."""
    valid: frozenset[str]
    """Which of its tokens are still good."""
    unreadable: frozenset[str] = frozenset()
    """Rows that were skipped because a newer version, or nobody in their right mind, wrote them."""
    superseded: frozenset[str] = frozenset()
    """Which of its sessions another stream of the same person has replaced."""


def exchange(store: ServiceStore, told: ReplicaReport) -> ReplicaReply:
    """Write down what one replica has to say, and read what concerns it."""
    with store.signing() as rows:
        _write_sessions(rows, told)
        _write_beat(store, rows, told)
        taken = _claim_orders(store, rows, told.held)
        heard = _read(store, rows, told, [(row.stream, row.duration_s) for row in taken])
    store.taken |= {row.number: row.at for row in taken}
    return heard


def forget_replica(store: ServiceStore, replica: str) -> None:
    """Leave nothing behind of a replica that ends."""
    with store.writing() as connection:
        connection.execute(delete(streams).where(streams.c.replica == replica))
        connection.execute(delete(replicas).where(replicas.c.replica == replica))


def order_grant(store: ServiceStore, stream: str, duration_s: float) -> None:
    """Ask whichever replica holds a session to open it."""
    with store.signing() as rows:
        rows.append(orders, {"stream": stream, "duration_s": duration_s, "at": time.time()})


def clear_up(store: ServiceStore) -> None:
    """Drop what nobody will ask for any more."""
    now = time.time()
    store.taken = {number: at for number, at in store.taken.items() if at > now - _HOUR_S}
    with store.writing() as connection:
        connection.execute(delete(happenings).where(happenings.c.at < now - _HOUR_S))
        connection.execute(delete(orders).where(orders.c.at < now - _HOUR_S))
        connection.execute(delete(receipts).where(receipts.c.at < now - _DAY_S))
        connection.execute(delete(rates).where(rates.c.minute < now // 60 - 1))
        connection.execute(delete(tokens).where(tokens.c.expires < now - _DAY_S))
        connection.execute(delete(replicas).where(replicas.c.seen < now - _HOUR_S))
        alive = select(replicas.c.replica)
        connection.execute(delete(streams).where(streams.c.replica.not_in(alive)))
        clear_current(connection, before=now - _HOUR_S)


def _write_beat(store: ServiceStore, rows: SignedRows, told: ReplicaReport) -> None:
    """Let the beat rise above every one before, even where somebody has deleted the row."""
    known = rows.keep(replicas, select(replicas).where(replicas.c.replica == told.replica))
    store.beat = max([store.beat, *(row.beat for row in known)]) + 1
    row = {
        "replica": told.replica,
        "beat": store.beat,
        "seen": time.time(),
        "sessions": _digest(_session_rows(told)),
    }
    rows.connection.execute(_BEAT, rows.sign(replicas, row))


def _write_sessions(rows: SignedRows, told: ReplicaReport) -> None:
    ours = streams.c.replica == told.replica
    rows.connection.execute(delete(streams).where(ours, streams.c.stream.not_in(told.held)))
    written = {
        row.stream: {name: value for name, value in row._mapping.items() if name != MAC}
        for row in rows.keep(streams, select(streams).where(ours))
    }
    new = [row for row in _session_rows(told) if written.get(str(row["stream"])) != row]
    if new:
        rows.connection.execute(_WRITE, [rows.sign(streams, row) for row in new])
    for kind in told.kinds:
        rows.append(happenings, _make_row(told.replica, *kind))


def _session_rows(told: ReplicaReport) -> list[dict[str, object]]:
    """Give the sessions of a replica as they should stand in the database."""
    return [
        {
            "stream": stream,
            "replica": told.replica,
            "person": snapshot.person,
            "token": token,
            "status": snapshot.pack(),
        }
        for stream, (token, snapshot) in {**told.unchanged, **told.changed}.items()
    ]


def _digest(sessions: Iterable[Mapping[str, object]]) -> str:
    """Give one number for all sessions of a replica, in whatever order they come."""
    lines = sorted(json.dumps([row[name] for name in _SESSION]) for row in sessions)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _make_row(replica: str, kind: str, snapshot: SessionSnapshot) -> dict[str, object]:
    body = f"{kind} {snapshot.session} {snapshot.pack()}"
    return {"replica": replica, "person": snapshot.person, "at": snapshot.at, "body": body}


def _claim_orders(store: ServiceStore, rows: SignedRows, held: frozenset[str]) -> list[Row[Any]]:
    """Take the orders for our sessions away; give those that are valid, of now, and new."""
    ours = orders.c.stream.in_(held)
    taken = []
    for row in rows.keep(orders, select(orders).where(ours)):
        if not _is_fresh(row.at):
            rows.refuse(orders, row._mapping, why="it is not of now")
        elif row.number in store.taken:
            rows.refuse(orders, row._mapping, why="it was carried out before")
        else:
            taken.append(row)
    rows.connection.execute(delete(orders).where(ours))
    return taken


def _is_fresh(at: float) -> bool:
    return abs(time.time() - at) <= _FRESH_S


def _read(
    store: ServiceStore, rows: SignedRows, told: ReplicaReport, grants: Sequence[tuple[str, float]]
) -> ReplicaReply:
    beats = rows.keep(replicas, select(replicas))
    newest = rows.connection.execute(select(func.max(happenings.c.number))).scalar() or 0
    last = newest if told.last is None else told.last
    foreign = (happenings.c.number > last) & (happenings.c.replica != told.replica)
    news = rows.keep(happenings, select(happenings).where(foreign).order_by(happenings.c.number))
    good = (tokens.c.token.in_(told.tokens)) & (tokens.c.expires > time.time())
    session_state = frozenset(rows.connection.execute(select(current.c.stream)).scalars())
    others = {f"stream {row['stream']}": row for row in _read_sessions(rows, told.replica)}
    sessions, strange = _read_each(others, _read_session)
    changes, odd = _read_each({f"change {row.number}": row for row in news}, _read_change)
    return ReplicaReply(
        beats={row.replica: row.beat for row in beats if _is_fresh(row.seen)},
        # not before: a replica stands by all of its sessions, also by those replaced since
        sessions={stream: one for stream, one in sessions if stream in session_state},
        changes=[one for at, one in changes if _is_fresh(at) or one[1].state == "locked"],
        last=newest,
        grants=grants,
        valid=frozenset(row.token for row in keep_tokens(store, rows, good)),
        unreadable=strange | odd,
        superseded=find_superseded(rows.connection, told.held),
    )


def _read_each(
    rows: Mapping[str, Written], read: Callable[[Written], Read]
) -> tuple[list[Read], frozenset[str]]:
    """Give what can be read of some rows, and the names of those that cannot."""
    told, unreadable = [], set()
    for name, row in rows.items():
        try:
            told.append(read(row))
        except UnreadableRowError:
            unreadable.add(name)
    return told, frozenset(unreadable)


def _read_session(row: Mapping[str, Any]) -> tuple[str, tuple[str, SessionSnapshot]]:
    told = SessionSnapshot.unpack(row["stream"], row["person"], row["status"])
    return row["stream"], (row["replica"], told)


def _read_change(row: Row[Any]) -> tuple[float, tuple[str, SessionSnapshot]]:
    """Read what another replica tells; that somebody was let in is news only for a moment."""
    kind, session, packed = (*str(row.body).split(" ", 2), "", "")[:3]
    return row.at, (kind, SessionSnapshot.unpack(session, row.person, packed))


def _read_sessions(rows: SignedRows, replica: str) -> list[dict[str, Any]]:
    """Give the sessions of other replicas, of those whose rows are just what they stand by."""
    # one statement, so that a replica which writes meanwhile is seen before or after, never between
    joined = streams.outerjoin(replicas, streams.c.replica == replicas.c.replica)
    query = select(streams, replicas).select_from(joined).where(streams.c.replica != replica)
    found = defaultdict[str, list[dict[str, Any]]](list)
    owners = dict[str, dict[str, Any]]()
    for row in rows.connection.execute(query):
        session = {column.name: row._mapping[column] for column in streams.c}
        owners[session["replica"]] = {column.name: row._mapping[column] for column in replicas.c}
        if rows.accepts(streams, session):
            found[session["replica"]].append(session)
    believed = [name for name in found if _stands_by(rows, owners[name], found[name])]
    return [session for name in believed for session in found[name]]


def _stands_by(rows: SignedRows, owner: Mapping[str, Any], sessions: list[dict[str, Any]]) -> bool:
    if owner["replica"] is None or not rows.accepts(replicas, owner):
        return False
    if owner["sessions"] == _digest(sessions):
        return _is_fresh(owner["seen"])
    rows.refuse(replicas, owner, why="its sessions are not those that it stands by")
    return False
