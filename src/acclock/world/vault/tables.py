"""The tables of a vault. Whatever tells about a person is sealed; see docs/decisions/0016."""

from sqlalchemy import (
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()

vaults = Table(
    "acclock_vault",
    metadata,
    Column("vault", String(32), primary_key=True),
    Column("master", String(32), nullable=False),
    Column("secrets", LargeBinary, nullable=False),
    Column("people", Integer, nullable=False),
    Column("events", Integer, nullable=False),
    Column("head", String(64), nullable=False),
    Column("mark", String(64), nullable=False),
)
"""One row: what opens the rest, and how much there has to be of it."""

people = Table(
    "acclock_people",
    metadata,
    Column("person", String(32), primary_key=True),
    Column("handle", String(64), nullable=False, unique=True),
    Column("wrapped_key", LargeBinary, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)
"""A random number, the keyed hash of the name, the person's own key, and the name sealed by it."""

templates = Table(
    "acclock_templates",
    metadata,
    Column("person", String(32), ForeignKey(people.c.person), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("model", String(200), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)

recordings = Table(
    "acclock_recordings",
    metadata,
    Column("person", String(32), ForeignKey(people.c.person), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("sealed", LargeBinary, nullable=False),
)
"""What a person agreed to keep, so that another model can enroll them anew."""

events = Table(
    "acclock_events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    Column("mark", String(64), nullable=False),
)
"""The audit log. Each mark covers the one before."""
