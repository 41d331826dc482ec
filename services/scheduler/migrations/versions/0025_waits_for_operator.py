"""Jobs that wait although no machine can give them their GPUs yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import with_default

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Adds the column."""
    for column in with_default(sa.Boolean, waits_for_operator=sa.false()):
        op.add_column("jobs", column)
