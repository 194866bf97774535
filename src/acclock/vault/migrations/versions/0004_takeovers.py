"""Which stream is each person's session."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table in which a new stream of a person takes the place of the one before."""
    op.create_table(
        "acclock_current",
        sa.Column("person", sa.String(32), primary_key=True),
        sa.Column("stream", sa.String(32), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        if_not_exists=True,
    )
