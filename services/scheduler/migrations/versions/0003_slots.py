"""Adds the slot of a job's lease, so that the executor can fence by slot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Earlier leases did not say."""
    for name in ("gpu", "first_eighth"):
        op.add_column("jobs", sa.Column(name, sa.Integer))
