"""Makes the database check the legal moves of jobs; it already checks their states."""

from __future__ import annotations

from servicekit.db.migration.moves import allow_moves

revision = "0009"
down_revision = "0008"

_MOVES = {
    "reserving": ("queued", "abandoned"),
    "abandoned": (),
    "queued": ("provisioning", "running", "settling"),
    "provisioning": ("queued", "running", "settling"),
    "running": ("queued", "settling"),
    "settling": ("finished", "cancelled", "failed"),
    "finished": (),
    "cancelled": (),
    "failed": (),
}


def upgrade() -> None:
    """Earlier jobs made only these moves."""
    allow_moves("jobs", _MOVES)
