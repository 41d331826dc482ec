"""Adds launch plans and problem definitions to jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Earlier jobs have neither."""
    for name in ("launch_plan", "problem_def"):
        op.add_column("job_sources", sa.Column(name, sa.Text, nullable=False, server_default=""))
