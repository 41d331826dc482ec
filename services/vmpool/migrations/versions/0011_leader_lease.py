"""Makes the leader lease a row."""

from __future__ import annotations

from servicekit.db.migration.leader_leases import create_leader_leases

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Nobody holds the lease yet: the leader before was known by an advisory lock."""
    create_leader_leases("vmpool")
