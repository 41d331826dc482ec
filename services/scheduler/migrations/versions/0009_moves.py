"""The database knows the legal moves of jobs; their states it knows already."""

from __future__ import annotations

from servicekit.migration.moves import allow_moves

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
    """Jobs of before made no others."""
    allow_moves("jobs", _MOVES)
