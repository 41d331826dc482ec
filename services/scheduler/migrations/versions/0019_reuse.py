"""Keeps which machines a job may run on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Jobs that are there already run on any machine."""
    op.add_column("jobs", sa.Column("reuse", sa.Text, nullable=False, server_default="reuse-or-create"))
