"""The database knows the states of machines and leases, and their legal moves."""

from __future__ import annotations

from servicekit.db.migration.moves import allow_moves, refuse

revision = "0008"
down_revision = "0007"

_MACHINES = {
    "requested": ("provisioning", "draining", "failed"),
    "provisioning": ("starting", "draining", "failed"),
    "starting": ("warm", "draining", "failed"),
    "warm": ("busy", "draining", "lost"),
    "busy": ("warm", "draining", "lost"),
    "draining": ("stopped", "lost"),
    "stopped": (),
    "failed": (),
    "lost": (),
}
_LEASES = {"active": ("expired", "ended"), "expired": ("ended",), "ended": ()}
_OVER = {"machines": "NEW.state IN ('stopped', 'failed', 'lost')", "leases": "NEW.state = 'ended'"}


def upgrade() -> None:
    """Refuse illegal moves, and rows that are over without an end or have an end before they are over."""
    allow_moves("machines", _MACHINES)
    allow_moves("leases", _LEASES)
    for table, is_over in _OVER.items():
        condition, message = f"({is_over}) <> (NEW.end_time IS NOT NULL)", f"{table}: a state without its end_time"
        refuse("INSERT", table, f"{table}_end_inserted", condition, message)
        refuse("UPDATE", table, f"{table}_end_updated", condition, message)
