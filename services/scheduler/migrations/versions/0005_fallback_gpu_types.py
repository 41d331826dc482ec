"""Adds fallback GPU types with their prices, and the GPU type that a job got."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Earlier jobs have no fallback, so the type that they got is the wanted one."""
    for name in ("fallback_gpu_types", "fallback_prices_micros_per_hour"):
        op.add_column("jobs", sa.Column(name, sa.Text, nullable=False, server_default="[]"))
    op.add_column("jobs", sa.Column("machine_gpu_type", sa.Text, nullable=False, server_default=""))
