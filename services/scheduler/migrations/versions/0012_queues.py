"""Keeps the tree of queues, what they used lately, and the queue of each job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Jobs that are there already are in the queue for jobs that name none."""
    op.add_column("jobs", sa.Column("queue", sa.Text, nullable=False, server_default="default"))
    op.create_table(
        "queues",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
    )
    op.create_table(
        "queue_tree",
        sa.Column("one", sa.Integer, primary_key=True),
        sa.Column("generation", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "queue_usage",
        sa.Column("gpu_type", sa.Text, primary_key=True),
        sa.Column("queue", sa.Text, primary_key=True),
        *[sa.Column(name, sa.BigInteger, nullable=False) for name in ("time_seconds", "used", "capacity")],
    )
    op.execute("INSERT INTO queue_tree (one, generation) VALUES (1, 1)")
