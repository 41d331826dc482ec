"""The scheduler's tables."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from servicekit.db.database import Instant
from services.scheduler.store.json_columns import JsonTuple, LeasesColumn, ReservationColumn, Slots

metadata = MetaData()
_RESERVED = text("reservation IS NOT NULL")
_PUBLIC = text("visibility = 'public'")
_LISTED_BY = ("dtype", "ran_on", "problem", "mode", "status", "verdict", "hardware", "timing_mode", "queue", "user_id")
_SPEED = ("problem", "proof", "calls_per_second")

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("user_id", Text, nullable=False, server_default=""),
    # Null once the submission was abandoned: the key is then free again.
    Column("idempotency_key", Text),
    Column("fingerprint", Text, nullable=False),
    # A wavepool.submission.v1.Submission without its texts; what lists filter by also has columns.
    Column("submission", LargeBinary, nullable=False),
    Column("problem", Text, nullable=False),
    Column("mode", Integer, nullable=False, server_default="0"),
    Column("dtype", Text, nullable=False, server_default=""),
    # The fields of Listed, which follow from the other columns.
    Column("ran_on", Text, nullable=False, server_default=""),
    Column("status", Text, nullable=False, server_default=""),
    Column("hardware", Text, nullable=False, server_default=""),
    Column("timing_mode", Text, nullable=False, server_default=""),
    Column("proof", Integer, nullable=False, server_default="0"),
    Column("calls_per_second", Float, nullable=False, server_default="0"),
    Column("gpu_type", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("fallback_gpu_types", JsonTuple, nullable=False, server_default="[]"),
    Column("queue", Text, nullable=False, server_default="default"),
    Column("time_limit_seconds", Integer, nullable=False, server_default="0"),
    Column("wanted_eighths", Integer, nullable=False, server_default="8"),
    Column("isolation", Text, nullable=False, server_default="exclusive"),
    Column("wanted_devices", Integer, nullable=False, server_default="0"),
    Column("least_eighths", Integer, nullable=False, server_default="0"),
    Column("job_class", Text, nullable=False, server_default=""),
    Column("placement", Text, nullable=False, server_default=""),
    Column("movable", Boolean, nullable=False, server_default=false()),
    Column("deadline", Instant),
    Column("reuse", Text, nullable=False, server_default="reuse-or-create"),
    Column("idle_seconds", Integer),
    Column("waits_for_operator", Boolean, nullable=False, server_default=false()),
    Column("name", Text, nullable=False, server_default=""),
    Column("visibility", Text, nullable=False, server_default="private"),
    Column("machines", Integer, nullable=False, server_default="1"),
    Column("state", Text, nullable=False),
    Column("create_time", Instant, nullable=False),
    Column("price_micros_per_hour", BigInteger, nullable=False),
    Column("fallback_prices_micros_per_hour", JsonTuple, nullable=False, server_default="[]"),
    Column("hold_micros", BigInteger, nullable=False),
    Column("has_definition", Boolean, nullable=False, server_default=false()),
    Column("request_id", Text, nullable=False),
    Column("hold_id", Text),
    Column("attempt", Integer, nullable=False),
    Column("attempts_excused", Integer, nullable=False, server_default="0"),
    Column("start_time", Instant),
    Column("end_time", Instant),
    Column("cancel_time", Instant),
    Column("machine_id", Text, nullable=False),
    Column("machine_gpu_type", Text, nullable=False, server_default=""),
    Column("machine_device", Text, nullable=False, server_default=""),
    Column("got_eighths", Integer, nullable=False, server_default="0"),
    Column("lease_id", Text),
    Column("executor_endpoint", Text),
    Column("executor_token", Text),
    Column("fencing_token", BigInteger),
    Column("slots", Slots),
    Column("expire_time", Instant),
    Column("more_leases", LeasesColumn, nullable=False, server_default="[]"),
    Column("run_seq", BigInteger, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    Column("ending", Text),
    Column("verdict", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("result", LargeBinary, nullable=False),
    # Null for a submission.
    Column("reservation", ReservationColumn),
    # Of a reservation: it follows from the other columns.
    Column("reservation_state", Text),
    # The number of the row's last change.
    Column("revision", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("account_id", "idempotency_key", name="jobs_idempotency_key"),
    # The columns after `job_id` let the index tell the rows of a list from the rest, without a look at each of them.
    Index("jobs_account_age", "account_id", "create_time", "job_id", *_LISTED_BY),
    Index("jobs_account_speed", "account_id", *_SPEED, "create_time", "job_id", "dtype", "ran_on", "hardware"),
    Index("jobs_age", "create_time", "job_id"),
    Index("jobs_account_state", "account_id", "state"),
    Index("jobs_account_revision", "account_id", "revision"),
    Index("jobs_state", "state"),
    Index("jobs_public", "user_id", "create_time", "job_id", sqlite_where=_PUBLIC, postgresql_where=_PUBLIC),
    Index("jobs_reservations", "create_time", "job_id", sqlite_where=_RESERVED, postgresql_where=_RESERVED),
)

# One row with the number of the last change of any job. Each transaction that changes jobs begins by counting it up, so
# that numbers are committed in their order.
job_revision = Table(
    "job_revision",
    metadata,
    Column("one", Integer, primary_key=True),
    Column("revision", BigInteger, nullable=False),
)

# Each queue's settings as JSON, and one row that counts the changes of the tree.
queues = Table(
    "queues",
    metadata,
    Column("name", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("settings", Text, nullable=False),
)
queue_tree = Table(
    "queue_tree",
    metadata,
    Column("one", Integer, primary_key=True),
    Column("generation", BigInteger, nullable=False),
)

# GPU types that operators keep from new reservations; `until` is null until somebody ends it.
maintenance = Table(
    "maintenance",
    metadata,
    Column("gpu_type", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("until", Instant),
    Column("user_id", Text, nullable=False),
)

# What queues used lately: in thousandths of GPU seconds, decayed, as of a time in seconds since 1970.
queue_usage = Table(
    "queue_usage",
    metadata,
    Column("gpu_type", Text, primary_key=True),
    Column("queue", Text, primary_key=True),
    Column("time_seconds", BigInteger, nullable=False),
    Column("used", BigInteger, nullable=False),
    Column("capacity", BigInteger, nullable=False),
)

# The texts of the message, in a table of their own, so that a move does not rewrite them.
job_texts = Table(
    "job_texts",
    metadata,
    Column("job_id", Text, ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
    Column("texts", LargeBinary, nullable=False),
)

job_events = Table(
    "job_events",
    metadata,
    Column("job_id", Text, ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("time", Instant, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    Column("last", Boolean, nullable=False),
    Column("payload", LargeBinary, nullable=False),
)

# The times that rank, each written with the end of its job.
proven_times = Table(
    "proven_times",
    metadata,
    Column("job_id", Text, ForeignKey("jobs.job_id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("hardware", Text, nullable=False),
    Column("dtype", Text, nullable=False),
    Column("timing_mode", Text, nullable=False),
    Column("runtime_ns", Float, nullable=False),
    Column("interval", Float, nullable=False, server_default="0"),
    Column("gflops", Float, nullable=False),
    Column("end_time", Instant, nullable=False),
    Index("proven_times_ranking", "problem", "hardware", "dtype", "timing_mode", "user_id", "runtime_ns"),
    Index("proven_times_records", "problem", "hardware", "dtype", "timing_mode", "runtime_ns"),
    Index("proven_times_of_user", "user_id", "hardware", "dtype", "timing_mode", "problem", "runtime_ns"),
)

# How often each user tried a problem, and how often that solved it; counted with the end of each submission. An empty
# element type stands for all of them.
problem_attempts = Table(
    "problem_attempts",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("problem", Text, primary_key=True),
    Column("dtype", Text, primary_key=True),
    Column("attempts", BigInteger, nullable=False),
    Column("solves", BigInteger, nullable=False),
)

# How many users have solved a problem; an empty element type as above.
problem_solvers = Table(
    "problem_solvers",
    metadata,
    Column("dtype", Text, primary_key=True),
    Column("problem", Text, primary_key=True),
    Column("users", BigInteger, nullable=False),
)

# How many submissions of each user ended that were made on a day in UTC, such as 2026-11-29; counted with each end.
submission_days = Table(
    "submission_days",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("submissions", BigInteger, nullable=False),
)

# The figures of each attempt that is over, written with its end and kept for a time. A job may outlive it,
# and it may outlive a job.
attempts = Table(
    "attempts",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("queue", Text, nullable=False),
    Column("machine_id", Text, nullable=False),
    Column("gpu_type", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("lost", Boolean, nullable=False),
    Column("end_time", Instant, nullable=False),
    Column("wait_us", BigInteger),
    Column("run_us", BigInteger),
    Column("useful_gpu_time_us", BigInteger, nullable=False),
    Column("leased_gpu_time_us", BigInteger, nullable=False),
    Column("gflops", Float),
    Index("attempts_end_time", "end_time"),
    Index("attempts_account_end_time", "account_id", "end_time"),
)

# A disk that a reservation holds names its job, which may be over by now: then nobody holds it.
_NOT_DELETED = text("delete_time IS NULL")
disks = Table(
    "disks",
    metadata,
    Column("disk_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("size_limit_bytes", BigInteger, nullable=False),
    Column("create_time", Instant, nullable=False),
    Column("last_used_time", Instant),
    Column("safe_time", Instant),
    Column("delete_time", Instant),
    Column("holder_id", Text),
    Index("disks_name", "user_id", "name", unique=True, sqlite_where=_NOT_DELETED, postgresql_where=_NOT_DELETED),
)

# Clones share snapshots with their originals: each has rows of its own.
disk_snapshots = Table(
    "disk_snapshots",
    metadata,
    Column("disk_id", Text, ForeignKey("disks.disk_id", ondelete="CASCADE"), primary_key=True),
    Column("snapshot_id", Text, primary_key=True),
    # Counts up with each snapshot: clocks of machines differ.
    Column("number", Integer, nullable=False),
    Column("store_id", Text, nullable=False),
    Column("time", Instant, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("duration_us", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("disk_snapshots_snapshot_id", "snapshot_id"),
)
disk_owners = Table(
    "disk_owners",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("password", Text, nullable=False),
)

# What images of reservations are built from.
build_contexts = Table(
    "build_contexts",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    # Of the last upload.
    Column("time", Instant, nullable=False),
)

# Snapshots that no disk has any more. A machine that has their store removes them when it is next given a disk.
unwanted_snapshots = Table(
    "unwanted_snapshots",
    metadata,
    Column("snapshot_id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("store_id", Text, nullable=False),
    Column("time", Instant, nullable=False),
)
