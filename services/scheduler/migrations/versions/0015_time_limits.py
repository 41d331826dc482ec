"""Keeps how long a job may run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Jobs that are there already may run as long as the operator lets jobs run."""
    op.add_column("jobs", sa.Column("time_limit_seconds", sa.Integer, nullable=False, server_default="0"))
