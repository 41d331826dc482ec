"""The state of each reservation, filled in for those of before, and its legal moves."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.moves import allow_moves

revision = "0034"
down_revision = "0033"

_JOBS = sa.table("jobs", *map(sa.column, ("job_id", "state", "cancel_time", "reservation", "reservation_state")))
_MOVES = {
    "pending": ("queued", "expiring"),
    "queued": ("preparing", "expiring"),
    "preparing": ("queued", "active", "expiring"),
    "active": ("expiring",),
    "expiring": ("queued", "expired", "cancelled", "failed"),
    "expired": (),
    "cancelled": (),
    "failed": (),
}
_ENDS = {"settling": "expiring", "finished": "expired", "cancelled": "cancelled", "failed": "failed"}


def upgrade() -> None:
    """Adds the column, fills it, and lets the database check its moves."""
    op.add_column("jobs", sa.Column("reservation_state", sa.Text))
    fill(op.get_bind())
    allow_moves("jobs", _MOVES, "reservation_state")


def fill(connection: sa.Connection) -> None:
    """Writes the states of all reservations."""
    rows = connection.execute(sa.select(_JOBS).where(_JOBS.c.reservation.is_not(None))).all()
    update = sa.update(_JOBS).where(_JOBS.c.job_id == sa.bindparam("of")).values(reservation_state=sa.bindparam("is"))
    if rows:
        connection.execute(update, [{"of": row.job_id, "is": _state_of(row)} for row in rows])


def _state_of(row: Any) -> str:  # noqa: ANN401 - a row of the columns above
    reservation = json.loads(row.reservation)
    if row.state != "running":
        waits = "pending" if reservation.get("start_time") and not reservation.get("is_due") else "queued"
        return _ENDS.get(row.state, waits)
    if row.cancel_time is not None or reservation.get("is_expiring"):
        return "expiring"
    return "active" if reservation.get("active_time") else "preparing"
