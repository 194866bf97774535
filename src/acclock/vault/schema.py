"""The tables of a vault, and how a database gets the ones it should have."""

from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    text,
)

from acclock.errors import VaultError
from acclock.vault.database import reading, writing

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


NEWEST = "0005"
_KNOWN = ("0001", "0002", "0003", "0004", "0005")


def upgrade(engine: Engine) -> None:
    """Bring the tables to the newest form: all the way, or not at all."""
    with reading(engine) as connection:
        if _revision(connection) == NEWEST:
            return
    with writing(engine) as connection:
        if _revision(connection) != NEWEST:  # somebody else may have been faster
            run_migrations(connection, NEWEST)


def run_migrations(connection: Connection, revision: str) -> None:
    """Run the migrations up to a revision, within the transaction that is open."""
    # Here because Alembic takes as long to load as everything else together, and is needed once.
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(Path(__file__).parent / "migrations"))
    with EnvironmentContext(Config(), scripts) as environment:
        environment.configure(
            connection=connection,
            version_table="acclock_schema",
            transactional_ddl=True,
            fn=lambda current, _: scripts._upgrade_revs(revision, current),
        )
        environment.run_migrations()


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("acclock_schema"):
        return None
    found = connection.execute(text("SELECT version_num FROM acclock_schema")).scalar()
    if found is not None and found not in _KNOWN:
        raise VaultError("the vault was written by a newer AccLock; this one cannot read it")
    return found
