"""What the service keeps: tokens, limits, replicas and their sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the service's tables, unless a service made them itself before this was here."""
    op.execute("DROP TABLE IF EXISTS acclock_service")
    op.create_table(
        "acclock_tokens",
        sa.Column("token", sa.String(16), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("person", sa.String(32)),
        sa.Column("may_grant", sa.Boolean, nullable=False),
        sa.Column("note", sa.String(64), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "acclock_rates",
        sa.Column("bucket", sa.String(96), primary_key=True),
        sa.Column("minute", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("count", sa.Integer, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "acclock_receipts",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("result", sa.String(64)),
        sa.Column("at", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_index("acclock_receipts_at", "acclock_receipts", ["at"], if_not_exists=True)
    _make_tables_of_replicas()


def _make_tables_of_replicas() -> None:
    op.create_table(
        "acclock_replicas",
        sa.Column("replica", sa.String(16), primary_key=True),
        sa.Column("beat", sa.Integer, nullable=False),
        sa.Column("seen", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "acclock_streams",
        sa.Column("stream", sa.String(32), primary_key=True),
        sa.Column("replica", sa.String(16), nullable=False),
        sa.Column("person", sa.String(32), nullable=False),
        sa.Column("token", sa.String(16), nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "acclock_happenings",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("replica", sa.String(16), nullable=False),
        sa.Column("person", sa.String(32), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_table(
        "acclock_orders",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("stream", sa.String(32), nullable=False),
        sa.Column("duration_s", sa.Float, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
