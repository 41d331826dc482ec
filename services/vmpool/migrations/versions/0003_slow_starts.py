"""What nine tenths of the starts before an event's machine did not exceed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Events that are there already were written without it."""
    op.add_column("machine_events", sa.Column("estimate_p90_us", sa.BigInteger))
