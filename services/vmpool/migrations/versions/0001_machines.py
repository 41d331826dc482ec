"""Machines, leases, the event log and usage facts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_UNRELEASED = sa.text("release_time IS NULL")
_NOT_ENDED = sa.text("state <> 'ended'")
_UNSENT = sa.text("NOT sent")


def upgrade() -> None:
    """Create the tables."""
    _create_machines()
    _create_leases()
    _create_events()
    _create_usage_facts()


def _create_machines() -> None:
    texts = ("state", "provider", "gpu_type", "token", "reason", "provider_stage", "endpoint", "inventory", "occupied")
    numbers = ("revision", "gpu_count", "price_micros_per_hour", "fencing_token", "jobs_run", "idle_us")
    moments = ("provision_time", "ready_time", "last_used_time", "end_time", "release_time")
    op.create_table(
        "machines",
        sa.Column("machine_id", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in texts),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in numbers),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("state_time", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in moments),
    )
    op.create_index(
        "machines_unreleased",
        "machines",
        ["create_time"],
        sqlite_where=_UNRELEASED,
        postgresql_where=_UNRELEASED,
    )


def _create_leases() -> None:
    op.create_table(
        "leases",
        sa.Column("lease_id", sa.Text, primary_key=True),
        sa.Column("machine_id", sa.Text, sa.ForeignKey("machines.machine_id"), nullable=False),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("gpu_type", sa.Text, nullable=False),
        sa.Column("gpu", sa.Integer, nullable=False),
        sa.Column("first_eighth", sa.Integer, nullable=False),
        sa.Column("eighths", sa.Integer, nullable=False),
        sa.Column("fencing_token", sa.BigInteger, nullable=False),
        sa.Column("start_kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("expire_time", sa.BigInteger, nullable=False),
        sa.Column("end_time", sa.BigInteger),
        sa.UniqueConstraint("machine_id", "fencing_token"),
    )
    # The database enforces it too: one lease for an attempt, one for a slot.
    for name, columns in (
        ("leases_of_attempt", ["job_id", "attempt"]),
        ("leases_of_slot", ["machine_id", "gpu", "first_eighth"]),
    ):
        op.create_index(name, "leases", columns, unique=True, sqlite_where=_NOT_ENDED, postgresql_where=_NOT_ENDED)


def _create_events() -> None:
    counter = op.create_table(
        "event_counter",
        sa.Column(
            "counter_id", sa.Integer, sa.CheckConstraint("counter_id = 1"), primary_key=True, autoincrement=False
        ),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(counter, [{"counter_id": 1, "seq": 0}])
    op.create_table(
        "machine_events",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("machine_id", sa.Text, sa.ForeignKey("machines.machine_id"), nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("previous_state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("estimate_us", sa.BigInteger),
        sa.Column("machine", sa.Text, nullable=False),
    )
    op.create_index("machine_events_machine_seq", "machine_events", ["machine_id", "seq"])


def _create_usage_facts() -> None:
    op.create_table(
        "usage_facts",
        sa.Column("machine_id", sa.Text, sa.ForeignKey("machines.machine_id"), primary_key=True),
        sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("start_time", sa.BigInteger, nullable=False),
        sa.Column("end_time", sa.BigInteger, nullable=False),
        sa.Column("final", sa.Boolean, nullable=False),
        sa.Column("sent", sa.Boolean, nullable=False),
    )
    op.create_index("usage_facts_unsent", "usage_facts", ["machine_id"], sqlite_where=_UNSENT, postgresql_where=_UNSENT)
