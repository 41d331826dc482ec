"""Adds the tariff of a machine's time: its start, the minimum that is billed, and the increment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Earlier intervals were billed by the microsecond, each by itself."""
    op.add_column("machine_usage", sa.Column("machine_start_time", sa.BigInteger))
    for name, default in (("minimum_billed_us", "0"), ("billing_increment_us", "1")):
        op.add_column("machine_usage", sa.Column(name, sa.BigInteger, nullable=False, server_default=default))
