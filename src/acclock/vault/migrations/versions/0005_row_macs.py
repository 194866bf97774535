"""MACs on the rows by which the service is told what to do."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_SHORT_LIVED = ("replicas", "streams", "happenings", "orders")


def upgrade() -> None:
    """Make room for the MACs. Tokens stay, to be named; what lives for moments is written anew."""
    for table in _SHORT_LIVED:
        op.execute(f"DELETE FROM acclock_{table}")  # noqa: S608 - our own names
    for table in ("tokens", *_SHORT_LIVED):
        op.add_column(f"acclock_{table}", _text("mac"))
    op.add_column("acclock_replicas", _text("sessions"))


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(64), nullable=False, server_default="")
