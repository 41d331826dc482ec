"""Attempts that were lost because somebody stopped the machine do not count against a job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Of attempts of before nobody knows any more."""
    op.add_column("jobs", sa.Column("attempts_excused", sa.Integer, nullable=False, server_default="0"))
