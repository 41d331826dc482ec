"""Adds the timing mode of a job's calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Earlier jobs left it to the device, as jobs without one still do."""
    op.add_column("jobs", sa.Column("timing_mode", sa.Text))
