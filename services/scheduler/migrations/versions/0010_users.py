"""Keeps who submitted a job, beside the account that pays."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Nobody knows who submitted earlier jobs: their accounts had no users."""
    op.add_column("jobs", sa.Column("user_id", sa.Text, nullable=False, server_default=""))
