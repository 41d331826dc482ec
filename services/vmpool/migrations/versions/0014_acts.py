"""The audit log: what operators and administrators did, and tried to do."""

from __future__ import annotations

from servicekit.db.migration.acts import create_acts

revision = "0014"
down_revision = "0013"
EXPANDS = True


def upgrade() -> None:
    """Creates the tables."""
    create_acts()
