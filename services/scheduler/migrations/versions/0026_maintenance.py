"""GPU types that operators keep from new reservations, by a command."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.database import Instant

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "maintenance",
        sa.Column("gpu_type", sa.Text, primary_key=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("until", Instant),
        sa.Column("user_id", sa.Text, nullable=False),
    )
