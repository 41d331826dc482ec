"""Makes the table of leader leases; `servicekit.db.leader_lease` reads and writes it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


def create_leader_leases(role: str) -> None:
    """Creates the table, with a free lease of `role`."""
    table = op.create_table(
        "leader_leases",
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("expire_time", sa.BigInteger),
        sa.UniqueConstraint("role", "epoch", name="leader_leases_epoch"),
    )
    op.bulk_insert(table, [{"role": role, "holder": "", "address": "", "epoch": 0, "expire_time": 0}])
