"""A lease may take several GPUs of its machine, and may be one of a gang."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

MOST_GPUS = 8
_NOT_ENDED = "state <> 'ended'"


def upgrade() -> None:
    """Number the GPUs of a lease by the bits of one column, and let the database keep leases apart on each GPU."""
    op.add_column("leases", sa.Column("gpus", sa.Integer, nullable=False, server_default="0"))
    op.add_column("leases", sa.Column("gang_id", sa.Text))
    op.add_column("leases", sa.Column("part", sa.Integer, nullable=False, server_default="0"))
    op.execute("UPDATE leases SET gpus = 1 << gpu")
    for name in ("leases_of_attempt", "leases_of_slot"):
        op.drop_index(name, "leases")
    op.drop_column("leases", "gpu")
    _index("leases_of_attempt", ["job_id", "attempt", "part"], _NOT_ENDED)
    _index("leases_of_machine", ["machine_id"], _NOT_ENDED, unique=False)
    _index("leases_of_gang", ["gang_id"], "gang_id IS NOT NULL", unique=False)
    for gpu in range(MOST_GPUS):
        _index(f"leases_of_gpu_{gpu}", ["machine_id", "first_eighth"], f"{_NOT_ENDED} AND (gpus & {1 << gpu}) <> 0")


def _index(name: str, columns: list[str], where: str, *, unique: bool = True) -> None:
    condition = sa.text(where)
    op.create_index(name, "leases", columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
