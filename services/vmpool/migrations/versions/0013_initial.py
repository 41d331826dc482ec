"""Machines, leases, the event log, usage facts and the pool's totals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import index_rows, keys, optional, required, with_default
from servicekit.db.migration.leader_leases import create_leader_leases
from servicekit.db.migration.moves import allow_moves, refuse

revision = "0013"
down_revision = None

_MOST_GPUS = 8
_NOT_ENDED = "state <> 'ended'"
_SUMS = ("machines", "idle_us", "cost_micros", "cold_starts", "warm_reuses")
_MACHINE_MOVES = {
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
_LEASE_MOVES = {"active": ("expired", "ended"), "expired": ("ended",), "ended": ()}
_OVER = {"machines": "NEW.state IN ('stopped', 'failed', 'lost')", "leases": "NEW.state = 'ended'"}


def upgrade() -> None:
    """Creates the tables, their single rows, and the triggers that know the states and their moves."""
    _create_machines()
    _create_leases()
    _create_events()
    _create_usage_facts()
    totals = op.create_table("pool_totals", *keys(sa.Integer, "totals_id"), *required(sa.BigInteger, *_SUMS))
    op.bulk_insert(totals, [{"totals_id": 1, **dict.fromkeys(_SUMS, 0)}])
    op.create_table("resumes", *keys(sa.Text, "provider", "backend", "gpu_type"), *required(sa.BigInteger, "time"))
    create_leader_leases("vmpool")
    _create_guards()


def _create_machines() -> None:
    texts = ("state", "provider", "gpu_type", "token", "reason", "provider_stage", "endpoint", "inventory", "occupied")
    numbers = ("revision", "gpu_count", "price_micros_per_hour", "fencing_token", "jobs_run", "idle_us")
    limits = {"max_price_micros_per_hour": "0", "max_duration_us": "0"}
    op.create_table(
        "machines",
        *keys(sa.Text, "machine_id"),
        *required(sa.Text, *texts),
        *required(sa.BigInteger, *numbers, "create_time", "state_time"),
        *optional(sa.BigInteger, "provision_time", "ready_time", "last_used_time", "end_time", "release_time"),
        *with_default(sa.Text, backend="", region="", request_id="", fault=""),
        *with_default(sa.BigInteger, minimum_billed_us="0", billing_increment_us="1", **limits),
        *with_default(sa.Text, origin="demand"),
        *with_default(sa.Boolean, spot=sa.false()),
        *optional(sa.Integer, "exit_status"),
        *with_default(sa.Boolean, rented=sa.true()),
        *with_default(sa.Text, resource_name="", resource_id="", own_job_id=""),
        *optional(sa.BigInteger, "keep_idle_us"),
        *with_default(sa.Text, reservation_ids="[]"),
    )
    op.create_index("machines_create_time", "machines", ["create_time"])
    index_rows("machines_unreleased", "machines", ["create_time"], "release_time IS NULL")
    # A repeated request finds the machine of the first.
    index_rows("machines_of_request", "machines", ["request_id"], "request_id <> ''", unique=True)


def _create_leases() -> None:
    op.create_table(
        "leases",
        *keys(sa.Text, "lease_id"),
        sa.Column("machine_id", sa.Text, sa.ForeignKey("machines.machine_id"), nullable=False),
        *required(sa.Text, "job_id"),
        *required(sa.Integer, "attempt"),
        *required(sa.Text, "gpu_type"),
        *required(sa.Integer, "first_eighth", "eighths"),
        *required(sa.BigInteger, "fencing_token"),
        *required(sa.Text, "start_kind", "state", "reason"),
        *required(sa.BigInteger, "create_time", "expire_time"),
        *optional(sa.BigInteger, "end_time"),
        *with_default(sa.Integer, gpus="0"),
        *optional(sa.Text, "gang_id"),
        *with_default(sa.Integer, part="0"),
        *with_default(sa.Text, holder="job"),
        sa.UniqueConstraint("machine_id", "fencing_token"),
    )
    op.create_index("leases_end_time", "leases", ["end_time"])
    index_rows("leases_of_machine", "leases", ["machine_id"], _NOT_ENDED)
    index_rows("leases_of_gang", "leases", ["gang_id"], "gang_id IS NOT NULL")
    # The database enforces it too: one lease for each part of an attempt, and one for each slot of a GPU.
    index_rows("leases_of_attempt", "leases", ["job_id", "attempt", "part"], _NOT_ENDED, unique=True)
    for gpu in range(_MOST_GPUS):
        on_gpu = f"{_NOT_ENDED} AND (gpus & {1 << gpu}) <> 0"
        index_rows(f"leases_of_gpu_{gpu}", "leases", ["machine_id", "first_eighth"], on_gpu, unique=True)


def _create_events() -> None:
    only_row = sa.CheckConstraint("counter_id = 1")
    counter = op.create_table(
        "event_counter",
        sa.Column("counter_id", sa.Integer, only_row, primary_key=True, autoincrement=False),
        *required(sa.BigInteger, "seq"),
    )
    op.bulk_insert(counter, [{"counter_id": 1, "seq": 0}])
    op.create_table(
        "machine_events",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("machine_id", sa.Text, sa.ForeignKey("machines.machine_id"), nullable=False),
        *required(sa.BigInteger, "time"),
        *required(sa.Text, "previous_state", "reason"),
        *optional(sa.BigInteger, "estimate_us"),
        *required(sa.Text, "machine"),
        *optional(sa.BigInteger, "estimate_p90_us"),
    )
    op.create_index("machine_events_machine_seq", "machine_events", ["machine_id", "seq"])


def _create_usage_facts() -> None:
    op.create_table(
        "usage_facts",
        sa.Column("machine_id", sa.Text, sa.ForeignKey("machines.machine_id"), primary_key=True),
        *keys(sa.BigInteger, "sequence"),
        *required(sa.BigInteger, "start_time", "end_time"),
        *required(sa.Boolean, "final", "sent"),
        *with_default(sa.Text, uses="[]"),
    )
    index_rows("usage_facts_unsent", "usage_facts", ["machine_id"], "NOT sent")


def _create_guards() -> None:
    """Refuses illegal moves, and rows that are over without an end or have an end before they are over."""
    allow_moves("machines", _MACHINE_MOVES)
    allow_moves("leases", _LEASE_MOVES)
    for table, is_over in _OVER.items():
        condition, message = f"({is_over}) <> (NEW.end_time IS NOT NULL)", f"{table}: a state without its end_time"
        refuse("INSERT", table, f"{table}_end_inserted", condition, message)
        refuse("UPDATE", table, f"{table}_end_updated", condition, message)
