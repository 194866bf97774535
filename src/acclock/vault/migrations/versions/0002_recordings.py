"""Recordings that people agreed to keep."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make a table for kept recordings."""
    op.create_table(
        "acclock_recordings",
        sa.Column(
            "person", sa.String(32), sa.ForeignKey("acclock_people.person"), primary_key=True
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
