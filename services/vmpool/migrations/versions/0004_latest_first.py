"""Indexes for the latest starts and leases, which are looked for often."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the indexes."""
    op.create_index("machines_create_time", "machines", ["create_time"])
    op.create_index("leases_end_time", "leases", ["end_time"])
