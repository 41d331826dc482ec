"""Keeps how many machines a reservation takes, and the leases of those beside the first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Jobs that are there already have one machine."""
    op.add_column("jobs", sa.Column("machines", sa.Integer, nullable=False, server_default="1"))
    op.add_column("jobs", sa.Column("more_leases", sa.Text, nullable=False, server_default="[]"))
