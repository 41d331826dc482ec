"""Users choose if others see their profile."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import with_default

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Adds the column; profiles of users from before are public."""
    for column in with_default(sa.Text, profile="public"):
        op.add_column("users", column)
