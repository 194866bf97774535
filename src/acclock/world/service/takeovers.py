"""One session per person: the newest stream takes over, in the order of the database."""

import time

from sqlalchemy import Connection, delete, select, text

from acclock.world.service.store import Store
from acclock.world.service.tables import current, streams

_CLAIM = text(
    "INSERT INTO acclock_current (person, stream, at) VALUES (:person, :stream, :at) "
    "ON CONFLICT (person) DO UPDATE SET stream = :stream, at = :at"
)


def take_over(store: Store, person: str, stream: str) -> None:
    """Make a stream the session of a person, in the place of whichever was it before.

    One row per person, replaced in one statement: of two replicas that do this at once, the one
    whose transaction the database puts last has the session, and both will read the same row.
    """
    with store.writing() as connection:
        connection.execute(_CLAIM, {"person": person, "stream": stream, "at": time.time()})


def current_stream(store: Store, person: str) -> str | None:
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
