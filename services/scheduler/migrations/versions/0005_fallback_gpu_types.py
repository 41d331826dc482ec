"""GPU types that a job may run on in place of the wanted one, their prices, and the type that it got."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Jobs of before have no fallback; which type they got is not known, and was the wanted one."""
    for name in ("fallback_gpu_types", "fallback_prices_micros_per_hour"):
        op.add_column("jobs", sa.Column(name, sa.Text, nullable=False, server_default="[]"))
    op.add_column("jobs", sa.Column("machine_gpu_type", sa.Text, nullable=False, server_default=""))
