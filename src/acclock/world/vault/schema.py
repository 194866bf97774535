"""Which tables a database has, and how it gets the ones it should have."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from acclock.errors import VaultError
from acclock.world.vault.database import reading, writing

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
