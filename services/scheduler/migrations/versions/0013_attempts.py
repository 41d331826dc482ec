"""Keeps the figures of attempts that are over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

TEXTS = ("account_id", "user_id", "problem", "mode", "queue", "machine_id", "gpu_type", "state", "verdict")


def upgrade() -> None:
    """The table begins empty: rows of older jobs do not say how long their runs were of use."""
    op.create_table(
        "attempts",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        *[sa.Column(name, sa.Text, nullable=False) for name in TEXTS],
        sa.Column("lost", sa.Boolean, nullable=False),
        sa.Column("end_time", sa.BigInteger, nullable=False),
        sa.Column("wait_us", sa.BigInteger),
        sa.Column("run_us", sa.BigInteger),
        sa.Column("useful_gpu_time_us", sa.BigInteger, nullable=False),
        sa.Column("leased_gpu_time_us", sa.BigInteger, nullable=False),
        sa.Column("gflops", sa.Float),
    )
    op.create_index("attempts_end_time", "attempts", ["end_time"])
    op.create_index("attempts_account_end_time", "attempts", ["account_id", "end_time"])
