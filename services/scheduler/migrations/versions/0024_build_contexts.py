"""Keeps what images of reservations are built from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.database import Instant

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """There is none yet."""
    op.create_table(
        "build_contexts",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("time", Instant, nullable=False),
    )
