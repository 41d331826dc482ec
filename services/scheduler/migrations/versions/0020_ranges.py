"""Keeps the least that a job starts with, what its attempt got, and whether its runs may be moved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Jobs that are there already have a fixed size, and are not moved."""
    op.add_column("jobs", sa.Column("least_eighths", sa.Integer, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("got_eighths", sa.Integer, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("movable", sa.Boolean, nullable=False, server_default=sa.false()))
