"""Adds the number of excused attempts, which were lost because somebody stopped the machine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Earlier attempts count as not excused, because the reason was not stored."""
    op.add_column("jobs", sa.Column("attempts_excused", sa.Integer, nullable=False, server_default="0"))
