"""Keeps the job that a machine was started for, if it wants a new one, and how long its jobs want it kept idle."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Machines that are there already are for any job, and are kept idle as the pool is set."""
    op.add_column("machines", sa.Column("own_job_id", sa.Text, nullable=False, server_default=""))
    op.add_column("machines", sa.Column("keep_idle_us", sa.BigInteger))
