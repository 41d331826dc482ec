"""Names that people give to their jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import with_default

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Adds the column."""
    for column in with_default(sa.Text, name=""):
        op.add_column("jobs", column)
