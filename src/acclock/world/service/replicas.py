"""What replicas write down for each other, one short transaction at a time."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, delete, func, insert, select, text

from acclock.world.service.snapshots import Snapshot, UnreadableRowError
from acclock.world.service.store import Store
from acclock.world.service.tables import (
    happenings,
    orders,
    rates,
    receipts,
    replicas,
    streams,
    tokens,
)

_BEAT = text(
    "INSERT INTO acclock_replicas (replica, beat, seen) VALUES (:replica, 1, :seen) ON CONFLICT "
    "(replica) DO UPDATE SET beat = acclock_replicas.beat + 1, seen = :seen"
)
_WRITE = text(
    "INSERT INTO acclock_streams (stream, replica, person, token, status) VALUES "
    "(:stream, :replica, :person, :token, :status) ON CONFLICT (stream) DO UPDATE SET "
    "status = :status"
)
_HOUR_S, _DAY_S = 3600.0, 86400.0

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one replica has to say since it last spoke."""

    replica: str
    changed: Mapping[str, tuple[str, Snapshot]]
    """Sessions that stand otherwise now, each with the number of its token."""
    held: frozenset[str]
    """All sessions that it holds."""
    tokens: frozenset[str]
    kinds: Sequence[tuple[str, Snapshot]]
    """Changes to tell of."""
    last: int | None
    """The last change that it has heard of; nothing when it has only just begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What it hears in return."""

    beats: Mapping[str, int]
    sessions: Mapping[str, tuple[str, Snapshot]]
    """Of others, each with its replica."""
    changes: Sequence[tuple[str, Snapshot]]
    last: int
    grants: Sequence[tuple[str, float]]
    """Sessions to open, and for how long."""
    valid: frozenset[str]
    """Which of its tokens are still good."""
    unreadable: frozenset[str] = frozenset()
    """Rows that were skipped because a newer version, or nobody in their right mind, wrote them."""


def exchange(store: Store, told: Told) -> Heard:
    """Write down what one replica has to say, and read what concerns it."""
    with store.writing() as connection:
        connection.execute(_BEAT, {"replica": told.replica, "seen": time.time()})
        _write_sessions(connection, told)
        grants = _take_orders(connection, told.held)
        return _read(connection, told, grants)


def forget_replica(store: Store, replica: str) -> None:
    """Leave nothing behind of a replica that ends."""
    with store.writing() as connection:
        connection.execute(delete(streams).where(streams.c.replica == replica))
        connection.execute(delete(replicas).where(replicas.c.replica == replica))


def order_grant(store: Store, stream: str, duration_s: float) -> None:
    """Ask whichever replica holds a session to open it."""
    with store.writing() as connection:
        row = {"stream": stream, "duration_s": duration_s, "at": time.time()}
        connection.execute(insert(orders), row)


def clear_up(store: Store) -> None:
    """Drop what nobody will ask for any more."""
    now = time.time()
    with store.writing() as connection:
        connection.execute(delete(happenings).where(happenings.c.at < now - _HOUR_S))
        connection.execute(delete(orders).where(orders.c.at < now - _HOUR_S))
        connection.execute(delete(receipts).where(receipts.c.at < now - _DAY_S))
        connection.execute(delete(rates).where(rates.c.minute < now // 60 - 1))
        connection.execute(delete(tokens).where(tokens.c.expires < now - _DAY_S))
        connection.execute(delete(replicas).where(replicas.c.seen < now - _HOUR_S))
        alive = select(replicas.c.replica)
        connection.execute(delete(streams).where(streams.c.replica.not_in(alive)))


def _write_sessions(connection: Connection, told: Told) -> None:
    ours = streams.c.replica == told.replica
    connection.execute(delete(streams).where(ours, streams.c.stream.not_in(told.held)))
    rows = [
        {
            "stream": stream,
            "replica": told.replica,
            "person": snapshot.person,
            "token": token,
            "status": snapshot.pack(),
        }
        for stream, (token, snapshot) in told.changed.items()
    ]
    if rows:
        connection.execute(_WRITE, rows)
    if told.kinds:
        connection.execute(insert(happenings), [_tell(told.replica, *kind) for kind in told.kinds])


def _tell(replica: str, kind: str, snapshot: Snapshot) -> dict[str, object]:
    body = f"{kind} {snapshot.session} {snapshot.pack()}"
    return {"replica": replica, "person": snapshot.person, "at": snapshot.at, "body": body}


def _take_orders(connection: Connection, held: frozenset[str]) -> list[tuple[str, float]]:
    found = connection.execute(select(orders).where(orders.c.stream.in_(held))).all()
    if found:
        numbers = [row.number for row in found]
        connection.execute(delete(orders).where(orders.c.number.in_(numbers)))
    return [(row.stream, row.duration_s) for row in found]


def _read(connection: Connection, told: Told, grants: list[tuple[str, float]]) -> Heard:
    others = connection.execute(select(streams).where(streams.c.replica != told.replica)).all()
    beats = connection.execute(select(replicas.c.replica, replicas.c.beat)).all()
    newest = connection.execute(select(func.max(happenings.c.number))).scalar() or 0
    last = newest if told.last is None else told.last
    foreign = (happenings.c.number > last) & (happenings.c.replica != told.replica)
    news = connection.execute(select(happenings).where(foreign).order_by(happenings.c.number))
    good = (tokens.c.token.in_(told.tokens)) & (tokens.c.expires > time.time())
    sessions, strange = _read_each({f"stream {row.stream}": row for row in others}, _read_session)
    changes, odd = _read_each({f"change {row.number}": row for row in news}, _read_change)
    return Heard(
        beats={row.replica: row.beat for row in beats},
        sessions=dict(sessions),
        changes=changes,
        last=newest,
        grants=grants,
        valid=frozenset(connection.execute(select(tokens.c.token).where(good)).scalars()),
        unreadable=strange | odd,
    )


def _read_each(
    rows: Mapping[str, Row[Any]], read: Callable[[Row[Any]], Read]
) -> tuple[list[Read], frozenset[str]]:
    """Give what can be read of some rows, and the names of those that cannot."""
    told, unreadable = [], set()
    for name, row in rows.items():
        try:
            told.append(read(row))
        except UnreadableRowError:
            unreadable.add(name)
    return told, frozenset(unreadable)


def _read_session(row: Row[Any]) -> tuple[str, tuple[str, Snapshot]]:
    return row.stream, (row.replica, Snapshot.unpack(row.stream, row.person, row.status))


def _read_change(row: Row[Any]) -> tuple[str, Snapshot]:
    kind, session, packed = (*str(row.body).split(" ", 2), "", "")[:3]
    return kind, Snapshot.unpack(session, row.person, packed)
