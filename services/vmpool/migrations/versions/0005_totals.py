"""Machines that were never rented cost nothing, and old rows are summed up when they are forgotten."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_SUMS = ("machines", "idle_us", "cost_micros", "cold_starts", "warm_reuses")


def upgrade() -> None:
    """Add the columns. Existing machines count as rented, as nothing else is known: they cost as much as before."""
    op.add_column("machines", sa.Column("rented", sa.Boolean, nullable=False, server_default=sa.true()))
    columns = [sa.Column(name, sa.BigInteger, nullable=False) for name in _SUMS]
    totals = op.create_table("pool_totals", sa.Column("totals_id", sa.Integer, primary_key=True), *columns)
    op.bulk_insert(totals, [{"totals_id": 1, **dict.fromkeys(_SUMS, 0)}])
