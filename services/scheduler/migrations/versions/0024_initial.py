"""Jobs with their texts, events and figures; queues; reservations' disks and build contexts; the leader lease."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from servicekit.db.migration.columns import index_rows, keys, optional, required, with_default
from servicekit.db.migration.leader_leases import create_leader_leases
from servicekit.db.migration.moves import allow_moves

revision = "0024"
down_revision = None

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
# The database checks the promises of the code, in case the code breaks them.
_CHECKS = {
    "jobs_state_known": f"state IN ({', '.join(map(repr, _MOVES))})",
    "jobs_running_has_lease": "state <> 'running' OR (lease_id IS NOT NULL AND start_time IS NOT NULL)",
    "jobs_waiting_has_no_lease": "state NOT IN ('reserving', 'queued', 'provisioning') OR lease_id IS NULL",
    "jobs_hold_before_queue": "state IN ('reserving', 'abandoned') OR hold_id IS NOT NULL",
    "jobs_over_has_end": "(state IN ('finished', 'cancelled', 'failed')) = (end_time IS NOT NULL)",
    "jobs_ending_known": "ending IS NULL OR ending IN ('finished', 'cancelled', 'failed')",
    "jobs_cost_within_hold": "cost_micros >= 0 AND cost_micros <= hold_micros",
}
_TIMES_KEY = ("problem", "hardware", "dtype", "timing_mode")


def upgrade() -> None:
    """Creates the tables and their single rows."""
    _create_jobs()
    _create_parts_of_jobs()
    _create_queues()
    _create_attempts()
    _create_disks()
    op.create_table(
        "build_contexts",
        *keys(sa.Text, "account_id", "digest"),
        *required(sa.LargeBinary, "content"),
        *required(sa.BigInteger, "time"),
    )
    create_leader_leases("scheduler")
    _notify_of_events()


def _create_jobs() -> None:
    texts = ("account_id", "fingerprint", "problem", "gpu_type", "state", "machine_id", "request_id", "verdict")
    lease = ("lease_id", "executor_endpoint", "executor_token")
    amounts = ("price_micros_per_hour", "hold_micros", "run_seq", "last_seq", "cost_micros")
    op.create_table(
        "jobs",
        *keys(sa.Text, "job_id"),
        *required(sa.Text, *texts, "message"),
        *optional(sa.Text, "idempotency_key", "hold_id", *lease, "ending"),
        *required(sa.Integer, "priority", "attempt"),
        *required(sa.BigInteger, "create_time"),
        *optional(sa.BigInteger, "start_time", "end_time", "cancel_time", "expire_time", "fencing_token"),
        *required(sa.BigInteger, *amounts),
        *required(sa.LargeBinary, "result"),
        *with_default(sa.Text, fallback_gpu_types="[]", fallback_prices_micros_per_hour="[]", machine_gpu_type=""),
        *with_default(sa.Integer, attempts_excused="0"),
        *with_default(sa.Boolean, has_definition=sa.false()),
        *with_default(sa.LargeBinary, submission=""),
        *with_default(sa.Text, user_id="", queue="default"),
        *with_default(sa.Integer, time_limit_seconds="0", wanted_eighths="8"),
        *with_default(sa.Text, isolation="exclusive"),
        *with_default(sa.Integer, wanted_devices="0"),
        *optional(sa.Text, "slots"),
        *with_default(sa.Text, job_class="", placement=""),
        *optional(sa.BigInteger, "deadline"),
        *with_default(sa.Text, reuse="reuse-or-create"),
        *optional(sa.Integer, "idle_seconds"),
        *with_default(sa.Integer, least_eighths="0", got_eighths="0"),
        *with_default(sa.Boolean, movable=sa.false()),
        *optional(sa.Text, "reservation"),
        *with_default(sa.Integer, machines="1"),
        *with_default(sa.Text, more_leases="[]"),
        sa.UniqueConstraint("account_id", "idempotency_key", name="jobs_idempotency_key"),
        *[sa.CheckConstraint(check, name=name) for name, check in _CHECKS.items()],
    )
    op.create_index("jobs_account_age", "jobs", ["account_id", "create_time", "job_id"])
    op.create_index("jobs_age", "jobs", ["create_time", "job_id"])
    op.create_index("jobs_account_state", "jobs", ["account_id", "state"])
    op.create_index("jobs_state", "jobs", ["state"])
    index_rows("jobs_reservations", "jobs", ["create_time", "job_id"], "reservation IS NOT NULL")
    allow_moves("jobs", _MOVES)


def _create_parts_of_jobs() -> None:
    op.create_table("job_texts", _key_of("jobs.job_id"), *required(sa.LargeBinary, "texts"))
    op.create_table(
        "job_events",
        _key_of("jobs.job_id"),
        *keys(sa.BigInteger, "seq"),
        *required(sa.BigInteger, "time"),
        *required(sa.Integer, "attempt"),
        *required(sa.BigInteger, "cost_micros"),
        *required(sa.Boolean, "last"),
        *required(sa.LargeBinary, "payload"),
    )
    op.create_table(
        "proven_times",
        _key_of("jobs.job_id"),
        *required(sa.Text, "user_id", *_TIMES_KEY),
        *required(sa.Float, "runtime_ns", "gflops"),
        *required(sa.BigInteger, "end_time"),
    )
    op.create_index("proven_times_ranking", "proven_times", [*_TIMES_KEY, "user_id", "runtime_ns"])


def _create_queues() -> None:
    op.create_table("queues", *keys(sa.Text, "name"), *required(sa.Integer, "position"), *required(sa.Text, "settings"))
    tree = op.create_table("queue_tree", *keys(sa.Integer, "one"), *required(sa.BigInteger, "generation"))
    op.bulk_insert(tree, [{"one": 1, "generation": 1}])
    op.create_table(
        "queue_usage",
        *keys(sa.Text, "gpu_type", "queue"),
        *required(sa.BigInteger, "time_seconds", "used", "capacity"),
    )


def _create_attempts() -> None:
    texts = ("account_id", "user_id", "problem", "mode", "queue", "machine_id", "gpu_type", "state", "verdict")
    op.create_table(
        "attempts",
        *keys(sa.Text, "job_id"),
        *keys(sa.Integer, "attempt"),
        *required(sa.Text, *texts),
        *required(sa.Boolean, "lost"),
        *required(sa.BigInteger, "end_time"),
        *optional(sa.BigInteger, "wait_us", "run_us"),
        *required(sa.BigInteger, "useful_gpu_time_us", "leased_gpu_time_us"),
        *optional(sa.Float, "gflops"),
    )
    op.create_index("attempts_end_time", "attempts", ["end_time"])
    op.create_index("attempts_account_end_time", "attempts", ["account_id", "end_time"])


def _create_disks() -> None:
    op.create_table(
        "disks",
        *keys(sa.Text, "disk_id"),
        *required(sa.Text, "user_id", "name"),
        *required(sa.BigInteger, "size_limit_bytes", "create_time"),
        *optional(sa.BigInteger, "last_used_time", "safe_time", "delete_time"),
        *optional(sa.Text, "holder_id"),
    )
    index_rows("disks_name", "disks", ["user_id", "name"], "delete_time IS NULL", unique=True)
    op.create_table(
        "disk_snapshots",
        _key_of("disks.disk_id"),
        *keys(sa.Text, "snapshot_id"),
        *required(sa.Integer, "number"),
        *required(sa.Text, "store_id"),
        *required(sa.BigInteger, "time", "size_bytes", "files"),
        *required(sa.Text, "reason"),
        *required(sa.BigInteger, "duration_us"),
        *required(sa.LargeBinary, "content"),
    )
    op.create_index("disk_snapshots_snapshot_id", "disk_snapshots", ["snapshot_id"])
    op.create_table("disk_owners", *keys(sa.Text, "user_id"), *required(sa.Text, "password"))
    op.create_table(
        "unwanted_snapshots",
        *keys(sa.Text, "snapshot_id"),
        *required(sa.Text, "user_id", "store_id"),
        *required(sa.BigInteger, "time"),
    )


def _key_of(owner: str) -> sa.Column[str]:
    """A column of the primary key that names a row of another table, and goes with it."""
    return sa.Column(owner.partition(".")[2], sa.Text, sa.ForeignKey(owner, ondelete="CASCADE"), primary_key=True)


def _notify_of_events() -> None:
    """Lets schedulers that do not lead hear of events. On SQLite, which notifies nobody, they poll."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(
        "CREATE FUNCTION tell_of_events() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_notify('job_events', NEW.job_id || ' ' || NEW.last_seq); RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER jobs_tell_of_events AFTER UPDATE OF last_seq ON jobs FOR EACH ROW "
        "WHEN (NEW.last_seq > OLD.last_seq) EXECUTE FUNCTION tell_of_events()"
    )
