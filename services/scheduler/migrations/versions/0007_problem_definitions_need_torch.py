"""Jobs say whether they come with a problem definition, which only machines with torch can evaluate."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Jobs of before take any machine, as they did."""
    op.add_column("jobs", sa.Column("has_definition", sa.Boolean, nullable=False, server_default=sa.false()))
