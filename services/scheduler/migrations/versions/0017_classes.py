"""Keeps the class of a job and how its machine is chosen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Jobs that are there already have no class, and get machines as their queue says."""
    op.add_column("jobs", sa.Column("job_class", sa.Text, nullable=False, server_default=""))
    op.add_column("jobs", sa.Column("placement", sa.Text, nullable=False, server_default=""))
