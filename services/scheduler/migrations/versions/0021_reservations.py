"""Keeps what reservations have beyond jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Jobs that are there already are submissions."""
    op.add_column("jobs", sa.Column("reservation", sa.Text))
    reserved = sa.text("reservation IS NOT NULL")
    op.create_index(
        "jobs_reservations", "jobs", ["create_time", "job_id"], sqlite_where=reserved, postgresql_where=reserved
    )
