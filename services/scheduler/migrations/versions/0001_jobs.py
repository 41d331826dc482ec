"""Jobs, their sources and their events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# The database checks the promises of the code, in case the code breaks them.
_STATES = "'reserving', 'abandoned', 'queued', 'provisioning', 'running', 'settling', 'finished', 'cancelled', 'failed'"
_CHECKS = {
    "jobs_state_known": f"state IN ({_STATES})",
    "jobs_running_has_lease": "state <> 'running' OR (lease_id IS NOT NULL AND start_time IS NOT NULL)",
    "jobs_waiting_has_no_lease": "state NOT IN ('reserving', 'queued', 'provisioning') OR lease_id IS NULL",
    "jobs_hold_before_queue": "state IN ('reserving', 'abandoned') OR hold_id IS NOT NULL",
    "jobs_over_has_end": "(state IN ('finished', 'cancelled', 'failed')) = (end_time IS NOT NULL)",
    "jobs_ending_known": "ending IS NULL OR ending IN ('finished', 'cancelled', 'failed')",
    "jobs_cost_within_hold": "cost_micros >= 0 AND cost_micros <= hold_micros",
}


def upgrade() -> None:
    """Create the tables."""
    _create_jobs()
    op.create_table(
        "job_sources",
        sa.Column("job_id", sa.Text, sa.ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
    )
    op.create_table(
        "job_events",
        sa.Column("job_id", sa.Text, sa.ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("cost_micros", sa.BigInteger, nullable=False),
        sa.Column("last", sa.Boolean, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("job_id", sa.Text, primary_key=True),
        *[
            sa.Column(name, sa.Text, nullable=False)
            for name in ("account_id", "fingerprint", "problem", "mode", "gpu_type", "dtype", "language", "state")
        ],
        *[sa.Column(name, sa.Text, nullable=False) for name in ("machine_id", "request_id", "verdict", "message")],
        *[
            sa.Column(name, sa.Text)
            for name in ("idempotency_key", "hold_id", "lease_id", "executor_endpoint", "executor_token", "ending")
        ],
        *[sa.Column(name, sa.Integer, nullable=False) for name in ("priority", "attempt")],
        sa.Column("create_time", sa.BigInteger, nullable=False),
        *[
            sa.Column(name, sa.BigInteger)
            for name in ("start_time", "end_time", "cancel_time", "expire_time", "fencing_token")
        ],
        *[
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in ("price_micros_per_hour", "hold_micros", "run_seq", "last_seq", "cost_micros")
        ],
        sa.Column("eighths", sa.Integer),
        sa.Column("result", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("account_id", "idempotency_key", name="jobs_idempotency_key"),
        *[sa.CheckConstraint(check, name=name) for name, check in _CHECKS.items()],
    )
    op.create_index("jobs_account_age", "jobs", ["account_id", "create_time", "job_id"])
    op.create_index("jobs_age", "jobs", ["create_time", "job_id"])
    op.create_index("jobs_account_state", "jobs", ["account_id", "state"])
    op.create_index("jobs_state", "jobs", ["state"])
