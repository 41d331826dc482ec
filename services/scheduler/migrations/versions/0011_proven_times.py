"""Keeps the times that rank beside the jobs that they are from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

KEY = ("problem", "hardware", "dtype", "timing_mode")


def upgrade() -> None:
    """Times of jobs that are over already do not rank: many of them belong to no user."""
    op.create_table(
        "proven_times",
        sa.Column("job_id", sa.Text, sa.ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        *[sa.Column(name, sa.Text, nullable=False) for name in KEY],
        sa.Column("runtime_ns", sa.Float, nullable=False),
        sa.Column("gflops", sa.Float, nullable=False),
        sa.Column("end_time", sa.BigInteger, nullable=False),
    )
    op.create_index("proven_times_ranking", "proven_times", [*KEY, "user_id", "runtime_ns"])
