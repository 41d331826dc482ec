"""Lets nobody change a checkpoint or a report of machine usage: statements and reports are read from them."""

from __future__ import annotations

from servicekit.db.migration.moves import refuse

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Creates the triggers."""
    for table in ("checkpoints", "machine_usage"):
        for action in ("UPDATE", "DELETE"):
            refuse(action, table, f"{table}_no_{action.lower()}", "true", f"{table} is append-only")
