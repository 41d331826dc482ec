"""An index of the jobs that everybody may see, by their users."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_PUBLIC = sa.text("visibility = 'public'")


def upgrade() -> None:
    """Adds the index."""
    columns = ["user_id", "create_time", "job_id"]
    op.create_index("jobs_public", "jobs", columns, sqlite_where=_PUBLIC, postgresql_where=_PUBLIC)
