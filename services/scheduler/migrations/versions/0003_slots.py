"""Where on its machine a job's lease lies, so that the executor can fence it off by its slot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Leases of before did not tell."""
    for name in ("gpu", "first_eighth"):
        op.add_column("jobs", sa.Column(name, sa.Integer))
