"""The service's own tables, beside the vault's. They hold no name and nothing biometric.

They are made and changed by the migrations of the vault.
"""

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

from acclock.world.vault.row_macs import MAC

metadata = MetaData()


def _mac() -> Column[str]:
    return Column(MAC, String(64), nullable=False, server_default="")


tokens = Table(
    "acclock_tokens",
    metadata,
    Column("token", String(16), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("person", String(32)),
    Column("may_grant", Boolean, nullable=False),
    Column("note", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    _mac(),
)
"""A number to revoke by, and the SHA-256 of what its owner holds."""

rates = Table(
    "acclock_rates",
    metadata,
    Column("bucket", String(96), primary_key=True),
    Column("minute", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
)

replicas = Table(
    "acclock_replicas",
    metadata,
    Column("replica", String(16), primary_key=True),
    Column("beat", Integer, nullable=False),
    Column("seen", Float, nullable=False),
    Column("sessions", String(64), nullable=False, server_default=""),
    _mac(),
)
"""Which replicas are alive: the beat rises twice a second. ``sessions`` is the digest of the
replica's rows in ``acclock_streams``, so that no older row passes for the present one. A replica
that was ``seen`` too long ago is not believed, even when its beat rises."""

streams = Table(
    "acclock_streams",
    metadata,
    Column("stream", String(32), primary_key=True),
    Column("replica", String(16), nullable=False),
    Column("person", String(32), nullable=False),
    Column("token", String(16), nullable=False),
    Column("status", Text, nullable=False),
    _mac(),
)
"""How each live session stands, without names."""

current = Table(
    "acclock_current",
    metadata,
    Column("person", String(32), primary_key=True),
    Column("stream", String(32), nullable=False),
    Column("at", Float, nullable=False),
)
"""Which stream is each person's session. It opens nothing; a stream that is not in it locks."""

happenings = Table(
    "acclock_happenings",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("replica", String(16), nullable=False),
    Column("person", String(32), nullable=False),
    Column("at", Float, nullable=False),
    Column("body", Text, nullable=False),
    _mac(),
    sqlite_autoincrement=True,
)
"""What changed lately, so that replicas can tell those who listen at them."""

orders = Table(
    "acclock_orders",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("stream", String(32), nullable=False),
    Column("duration_s", Float, nullable=False),
    Column("at", Float, nullable=False),
    _mac(),
    sqlite_autoincrement=True,
)
"""Grants on their way to the replica that holds the session."""

receipts = Table(
    "acclock_receipts",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("request", String(64), nullable=False),
    Column("result", String(64)),
    Column("at", Float, nullable=False),
    Index("acclock_receipts_at", "at"),
)
"""What was done under which key of a client that may ask again. It has no MAC because it opens
nothing: what is answered is looked up in the vault."""
