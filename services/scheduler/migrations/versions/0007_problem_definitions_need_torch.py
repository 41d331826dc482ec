"""Adds a flag for jobs with a problem definition, which only machines with torch can evaluate."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Earlier jobs take any machine, as before."""
    op.add_column("jobs", sa.Column("has_definition", sa.Boolean, nullable=False, server_default=sa.false()))
