"""Times at which renting from a source was resumed after machines of no use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.database import Instant

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the empty table."""
    key = [sa.Column(name, sa.Text, primary_key=True) for name in ("provider", "backend", "gpu_type")]
    op.create_table("resumes", *key, sa.Column("time", Instant, nullable=False))
