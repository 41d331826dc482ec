"""How a job's calls are timed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Jobs of before left it to the device, as those without one do."""
    op.add_column("jobs", sa.Column("timing_mode", sa.Text))
