"""Keeps for what each lease is, and the reservations that a machine has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Leases that are there already are those of jobs."""
    op.add_column("leases", sa.Column("holder", sa.Text, nullable=False, server_default="job"))
    op.add_column("machines", sa.Column("reservation_ids", sa.Text, nullable=False, server_default="[]"))
