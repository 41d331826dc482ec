"""Columns for a machine's order, billing and fault."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_REQUESTED = sa.text("request_id <> ''")


def upgrade() -> None:
    """Add the columns. Existing machines count as ordered without limits and billed by the microsecond."""
    texts = ("backend", "region", "request_id", "fault")
    numbers = (("minimum_billed_us", 0), ("billing_increment_us", 1), ("max_price_micros_per_hour", 0))
    for name in texts:
        _add(sa.Column(name, sa.Text, nullable=False, server_default=""))
    for name, default in (*numbers, ("max_duration_us", 0)):
        _add(sa.Column(name, sa.BigInteger, nullable=False, server_default=str(default)))
    _add(sa.Column("origin", sa.Text, nullable=False, server_default="demand"))
    _add(sa.Column("spot", sa.Boolean, nullable=False, server_default=sa.false()))
    _add(sa.Column("exit_status", sa.Integer))
    # A repeated request finds the machine of the first.
    op.create_index(
        "machines_of_request",
        "machines",
        ["request_id"],
        unique=True,
        sqlite_where=_REQUESTED,
        postgresql_where=_REQUESTED,
    )


def _add(column: sa.Column[object]) -> None:
    op.add_column("machines", column)
