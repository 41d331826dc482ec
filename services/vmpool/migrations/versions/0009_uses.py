"""Adds the leases of an interval to what is reported of a machine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """The use of earlier intervals is not known."""
    op.add_column("usage_facts", sa.Column("uses", sa.Text, nullable=False, server_default="[]"))
