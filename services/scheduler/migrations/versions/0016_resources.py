"""Keeps what a job takes of a machine, and all slots of its lease."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Jobs that are there already want one whole GPU; their leases have one slot."""
    op.add_column("jobs", sa.Column("wanted_eighths", sa.Integer, nullable=False, server_default="8"))
    op.add_column("jobs", sa.Column("isolation", sa.Text, nullable=False, server_default="exclusive"))
    op.add_column("jobs", sa.Column("wanted_devices", sa.Integer, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("slots", sa.Text))
    numbers = " || ',' || ".join(f"CAST(COALESCE({name}, 0) AS TEXT)" for name in ("gpu", "first_eighth", "eighths"))
    op.execute(f"UPDATE jobs SET slots = '[[' || {numbers} || ']]' WHERE lease_id IS NOT NULL")  # noqa: S608 - no input
    for name in ("gpu", "first_eighth", "eighths"):
        op.drop_column("jobs", name)
