"""Keeps which machines a job may run on, and how long its machine is kept idle after it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Jobs that are there already run on any machine, which is kept idle as the pool is set."""
    op.add_column("jobs", sa.Column("reuse", sa.Text, nullable=False, server_default="reuse-or-create"))
    op.add_column("jobs", sa.Column("idle_seconds", sa.Integer))
