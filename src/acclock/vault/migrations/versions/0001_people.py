"""People, their templates, and the log of what happened to them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "acclock_vault",
        sa.Column("vault", sa.String(32), primary_key=True),
        sa.Column("master", sa.String(32), nullable=False),
        sa.Column("secrets", sa.LargeBinary, nullable=False),
        sa.Column("people", sa.Integer, nullable=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
        sa.Column("mark", sa.String(64), nullable=False),
    )
    op.create_table(
        "acclock_people",
        sa.Column("person", sa.String(32), primary_key=True),
        sa.Column("handle", sa.String(64), nullable=False, unique=True),
        sa.Column("wrapped_key", sa.LargeBinary, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "acclock_templates",
        sa.Column(
            "person", sa.String(32), sa.ForeignKey("acclock_people.person"), primary_key=True
        ),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "acclock_events",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("mark", sa.String(64), nullable=False),
    )
