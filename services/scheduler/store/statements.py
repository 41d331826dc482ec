"""Statements of a job's way through the queue, built once: building them takes longer than executing them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import (
    CompoundSelect,
    Insert,
    Integer,
    Table,
    Update,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from servicekit.db.database import Instant
from services.scheduler.jobs.states import IN_FLIGHT_STATES
from services.scheduler.store.tables import (
    attempts,
    job_events,
    job_revision,
    job_texts,
    jobs,
    problem_attempts,
    problem_solvers,
    proven_times,
    submission_days,
)

INSERT_JOB = insert(jobs)
INSERT_TEXTS = insert(job_texts)
INSERT_EVENTS = insert(job_events)
INSERT_PROVEN_TIME = insert(proven_times)
INSERT_ATTEMPT = insert(attempts)
JOB = select(jobs).where(jobs.c.job_id == bindparam("job_id"))
"""Selects the job with `job_id`."""
EVENTS = (
    select(job_events)
    .where(job_events.c.job_id == bindparam("job_id"), job_events.c.seq > bindparam("after_seq"))
    .order_by(job_events.c.seq)
    .limit(bindparam("most"))
)
"""Selects the first `most` events of `job_id` after `after_seq`."""
COMPARED = ("state", "attempt", "run_seq")
"""The columns that tell if a row is still as a move found it: every move that others must not miss changes one."""
LOOSE = ("last_seq", "cancel_time", "reservation")
"""The only columns that a move may change without one of those that are compared, beside amounts of money."""
COUNT_CHANGES = (
    update(job_revision)
    .values(revision=job_revision.c.revision + bindparam("changes"))
    .returning(job_revision.c.revision)
)
"""Takes the numbers of `changes` changes of jobs, and keeps other processes from taking any; gives the last."""
_KEYS = ("job_id", "account_id", "idempotency_key", "reservation_state")
LOCKED_JOBS = (
    select(*(jobs.c[name] for name in (*_KEYS, *COMPARED, *LOOSE)))
    .where(jobs.c.job_id.in_(bindparam("job_ids", expanding=True)))
    .order_by(jobs.c.job_id)
    .with_for_update()
)
"""Selects what moves compare and count of the jobs with `job_ids`, and keeps other processes from changing them."""
DELETE_JOB = delete(jobs).where(jobs.c.job_id == bindparam("deleted_id"))


def _uses() -> CompoundSelect[*tuple[Any, ...]]:
    own = jobs.c.account_id.in_(bindparam("account_ids", expanding=True))
    hour = select(
        jobs.c.account_id,
        func.count().label("submissions"),
        func.min(jobs.c.create_time).label("first_time"),
        literal_column("0", Integer).label("jobs_in_flight"),
    ).where(own, jobs.c.create_time > bindparam("since", type_=Instant))
    in_flight = select(jobs.c.account_id, literal_column("0", Integer), null(), func.count()).where(
        own, jobs.c.state.in_(IN_FLIGHT_STATES)
    )
    return union_all(hour.group_by(jobs.c.account_id), in_flight.group_by(jobs.c.account_id))


USES = _uses()
"""For each of `account_ids` that has any, a row with the number of `submissions` after `since` and the time of the
first, and another row with the number of `jobs_in_flight`."""
NEWEST_BUT = (
    select(jobs.c.create_time)
    .where(jobs.c.account_id == bindparam("account_id"))
    .order_by(jobs.c.create_time.desc())
    .limit(1)
    .offset(bindparam("newer"))
)
"""Selects the time of the submission of `account_id` than which `newer` are newer."""
IN_QUEUES = (
    select(jobs.c.user_id, jobs.c.queue, func.count().label("jobs"))
    .where(
        jobs.c.state.in_(IN_FLIGHT_STATES),
        jobs.c.user_id.in_(bindparam("user_ids", expanding=True)),
        jobs.c.queue.in_(bindparam("queues", expanding=True)),
    )
    .group_by(jobs.c.user_id, jobs.c.queue)
)
"""Counts the `jobs` in flight of each of `user_ids` in each of `queues`."""
BY_KEY = select(jobs).where(
    jobs.c.account_id.in_(bindparam("account_ids", expanding=True)),
    jobs.c.idempotency_key.in_(bindparam("keys", expanding=True)),
)
"""Selects the jobs of `account_ids` that have one of `keys`."""
LOCK_ACCOUNTS = text(
    "SELECT pg_advisory_xact_lock(locks.number) FROM (SELECT DISTINCT hashtext('jobs ' || account_id) AS number"
    " FROM unnest(CAST(:account_ids AS text[])) AS account_id ORDER BY 1) AS locks"
)
"""Keeps other processes from inserting jobs of `account_ids`, on PostgreSQL."""


@cache
def update_of(changed: tuple[str, ...]) -> Update:
    """The update of these columns of a job; there are as many of them as there are kinds of moves."""
    values: dict[str, Any] = {name: bindparam(f"after_{name}", type_=jobs.c[name].type) for name in changed}
    return update(jobs).where(jobs.c.job_id == bindparam("moved_id")).values(values)


@cache
def count_attempts(dialect_name: str) -> Insert:
    """Adds a row to `problem_attempts`, or its counts to those of the row that is there."""
    return _added(_insert(problem_attempts, dialect_name), problem_attempts, "attempts", "solves")


@cache
def count_solver(dialect_name: str) -> Insert:
    """Counts a user among those who solved a problem, if `by_solves` are all of the user's solves."""
    row = problem_attempts.c
    first = select(row.dtype, row.problem, literal_column("1", Integer)).where(
        *(row[name] == bindparam(f"by_{name}") for name in ("user_id", "problem", "dtype", "solves"))
    )
    added = _insert(problem_solvers, dialect_name).from_select(["dtype", "problem", "users"], first)
    return _added(added, problem_solvers, "users")


@cache
def count_day(dialect_name: str) -> Insert:
    """Adds a row to `submission_days`, or its count to that of the row that is there."""
    return _added(_insert(submission_days, dialect_name), submission_days, "submissions")


def _insert(table: Table, dialect_name: str) -> postgresql.Insert | sqlite.Insert:
    return (postgresql if dialect_name == "postgresql" else sqlite).insert(table)


def _added(added: postgresql.Insert | sqlite.Insert, table: Table, *counts: str) -> Insert:
    sums = {name: table.c[name] + added.excluded[name] for name in counts}
    return added.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=sums)


def update_parameters(job_id: str, changed: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of `update_of`."""
    return {"moved_id": job_id, **{f"after_{name}": value for name, value in changed.items()}}
