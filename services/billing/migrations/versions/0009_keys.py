"""Adds the public SSH keys of users."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Creates the table. A key belongs to one user: its fingerprint is unique."""
    op.create_table(
        "ssh_keys",
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False, index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False, unique=True),
        sa.Column("create_time", sa.BigInteger, nullable=False),
    )
