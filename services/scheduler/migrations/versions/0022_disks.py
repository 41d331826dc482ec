"""Keeps disks, their snapshots, and their owners' passwords."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Reservations that are there already have no disk."""
    op.create_table(
        "disks",
        sa.Column("disk_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("size_limit_bytes", sa.BigInteger, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("last_used_time", sa.BigInteger),
        sa.Column("safe_time", sa.BigInteger),
        sa.Column("delete_time", sa.BigInteger),
        sa.Column("holder_id", sa.Text),
    )
    not_deleted = sa.text("delete_time IS NULL")
    op.create_index(
        "disks_name", "disks", ["user_id", "name"], unique=True, sqlite_where=not_deleted, postgresql_where=not_deleted
    )
    op.create_table(
        "disk_snapshots",
        sa.Column("disk_id", sa.Text, sa.ForeignKey("disks.disk_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("snapshot_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("store_id", sa.Text, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("files", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("duration_us", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_index("disk_snapshots_snapshot_id", "disk_snapshots", ["snapshot_id"])
    op.create_table(
        "disk_owners",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("password", sa.Text, nullable=False),
    )
    op.create_table(
        "unwanted_snapshots",
        sa.Column("snapshot_id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("store_id", sa.Text, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
    )
