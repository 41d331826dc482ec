"""Tickets, each for one GET or WebSocket of one address."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import required

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "tickets",
        sa.Column("secret_hash", sa.Text, primary_key=True),
        sa.Column("token_id", sa.Text, sa.ForeignKey("tokens.token_id"), nullable=False),
        *required(sa.Text, "address"),
        *required(sa.BigInteger, "expire_time"),
        sa.Column("use_time", sa.BigInteger),
    )
    op.create_index("ix_tickets_expire_time", "tickets", ["expire_time"])
