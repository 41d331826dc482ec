"""Adds users' names on GitHub, what was read of their keys there, and texts to sign."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Creates the column and the tables. A name on GitHub belongs to one user."""
    op.add_column("users", sa.Column("github_name", sa.Text))
    op.create_index("users_github_name", "users", ["github_name"], unique=True)
    op.create_table(
        "github_keys",
        sa.Column("github_name", sa.Text, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("check_time", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "github_claims",
        sa.Column("challenge_hash", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False),
        sa.Column("github_name", sa.Text, nullable=False),
        sa.Column("expire_time", sa.BigInteger, nullable=False, index=True),
    )
