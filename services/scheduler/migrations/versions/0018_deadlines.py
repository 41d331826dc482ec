"""Keeps by when a job is to be over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Jobs that are there already have no deadline."""
    op.add_column("jobs", sa.Column("deadline", sa.BigInteger))
