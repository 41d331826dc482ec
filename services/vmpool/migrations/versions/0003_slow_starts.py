"""Adds to each event the time within which nine tenths of earlier starts were ready."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column, which stays empty for existing events."""
    op.add_column("machine_events", sa.Column("estimate_p90_us", sa.BigInteger))
