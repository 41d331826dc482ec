"""vmpool's tables. Durations are whole microseconds, money is BIGINT micro-dollars."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint

from servicekit.db.database import Instant

metadata = MetaData()

machines = Table(
    "machines",
    metadata,
    Column("machine_id", Text, primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("gpu_type", Text, nullable=False),
    Column("gpu_count", BigInteger, nullable=False),
    Column("token", Text, nullable=False),
    Column("price_micros_per_hour", BigInteger, nullable=False),
    Column("minimum_billed_us", BigInteger, nullable=False),
    Column("billing_increment_us", BigInteger, nullable=False),
    Column("backend", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("spot", Boolean, nullable=False),
    Column("max_price_micros_per_hour", BigInteger, nullable=False),
    Column("max_duration_us", BigInteger, nullable=False),
    Column("origin", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("own_job_id", Text, nullable=False, server_default=""),
    Column("resource_name", Text, nullable=False),
    Column("resource_id", Text, nullable=False),
    Column("rented", Boolean, nullable=False),
    Column("fault", Text, nullable=False),
    Column("exit_status", Integer),
    Column("reason", Text, nullable=False),
    Column("provider_stage", Text, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("inventory", Text, nullable=False),
    Column("occupied", Text, nullable=False),
    Column("reservation_ids", Text, nullable=False, server_default="[]"),
    Column("fencing_token", BigInteger, nullable=False),
    Column("jobs_run", BigInteger, nullable=False),
    Column("idle_us", BigInteger, nullable=False),
    Column("keep_idle_us", BigInteger),
    Column("create_time", Instant, nullable=False),
    Column("state_time", Instant, nullable=False),
    Column("provision_time", Instant),
    Column("ready_time", Instant),
    Column("last_used_time", Instant),
    Column("end_time", Instant),
    Column("release_time", Instant),
    Index("machines_create_time", "create_time"),
)

resumes = Table(
    "resumes",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("backend", Text, primary_key=True),
    Column("gpu_type", Text, primary_key=True),
    Column("time", Instant, nullable=False),
)
"""Times at which an administrator last allowed renting from a source again."""

leases = Table(
    "leases",
    metadata,
    Column("lease_id", Text, primary_key=True),
    Column("machine_id", Text, ForeignKey("machines.machine_id"), nullable=False),
    Column("job_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("gang_id", Text),
    Column("part", Integer, nullable=False),
    Column("holder", Text, nullable=False, server_default="job"),
    Column("gpu_type", Text, nullable=False),
    # A bit for each GPU that the lease lies on.
    Column("gpus", Integer, nullable=False),
    Column("first_eighth", Integer, nullable=False),
    # In all.
    Column("eighths", Integer, nullable=False),
    Column("fencing_token", BigInteger, nullable=False),
    Column("start_kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("create_time", Instant, nullable=False),
    Column("expire_time", Instant, nullable=False),
    Column("end_time", Instant),
    UniqueConstraint("machine_id", "fencing_token"),
    Index("leases_end_time", "end_time"),
)

event_counter = Table(
    "event_counter",
    metadata,
    Column("counter_id", Integer, primary_key=True),
    Column("seq", BigInteger, nullable=False),
)
"""One row. Its lock makes events visible in the order of their numbers, and its rollback leaves no gap. So a follower
that has seen number n has seen all before it."""

machine_events = Table(
    "machine_events",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("machine_id", Text, ForeignKey("machines.machine_id"), nullable=False),
    Column("time", Instant, nullable=False),
    Column("previous_state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("estimate_us", BigInteger),
    Column("estimate_p90_us", BigInteger),
    Column("machine", Text, nullable=False),
    Index("machine_events_machine_seq", "machine_id", "seq"),
)

pool_totals = Table(
    "pool_totals",
    metadata,
    Column("totals_id", Integer, primary_key=True),
    Column("machines", BigInteger, nullable=False),
    Column("idle_us", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    Column("cold_starts", BigInteger, nullable=False),
    Column("warm_reuses", BigInteger, nullable=False),
)
"""One row: sums over forgotten machines and leases, so that the pool's figures stay the same."""

usage_facts = Table(
    "usage_facts",
    metadata,
    Column("machine_id", Text, ForeignKey("machines.machine_id"), primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("start_time", Instant, nullable=False),
    Column("end_time", Instant, nullable=False),
    Column("final", Boolean, nullable=False),
    Column("sent", Boolean, nullable=False),
    # [job, attempt, microseconds of GPU time] of each lease, as JSON.
    Column("uses", Text, nullable=False),
)
