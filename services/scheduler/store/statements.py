"""Statements of a job's way through the queue, built once: building them takes longer than executing them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select, update

from servicekit.db.database import Instant
from services.scheduler.jobs.job import IN_FLIGHT_STATES
from services.scheduler.store.tables import attempts, job_events, job_texts, jobs, proven_times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Select
    from sqlalchemy.sql.dml import ReturningUpdate

    from services.scheduler.jobs.job import Job

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
_COMPARED = ("job_id", "state", "attempt", "run_seq")


def _standing() -> Select[int, Any]:
    own = jobs.c.account_id == bindparam("account_id")
    in_flight = select(func.count()).select_from(jobs).where(own, jobs.c.state.in_(IN_FLIGHT_STATES))
    earlier = select(jobs.c.job_id).where(own, jobs.c.idempotency_key == bindparam("idempotency_key"))
    hour = (
        select(func.count().label("submissions"), func.min(jobs.c.create_time).label("first_time"))
        .where(own, jobs.c.create_time > bindparam("since", type_=Instant))
        .subquery()
    )
    return select(
        in_flight.scalar_subquery().label("jobs"), earlier.scalar_subquery().label("earlier_id"), *hour.columns
    )


STANDING = _standing()
"""For `account_id`, selects the number of `jobs` in flight, the id of the job with `idempotency_key`, and the number of
`submissions` after `since`, with the time of the first."""
NEWEST_BUT = (
    select(jobs.c.create_time)
    .where(jobs.c.account_id == bindparam("account_id"))
    .order_by(jobs.c.create_time.desc())
    .limit(1)
    .offset(bindparam("newer"))
)
"""Selects the time of the submission of `account_id` than which `newer` are newer."""


IN_QUEUE = (
    select(func.count())
    .select_from(jobs)
    .where(
        jobs.c.state.in_(IN_FLIGHT_STATES),
        jobs.c.user_id == bindparam("user_id"),
        jobs.c.queue == bindparam("queue"),
    )
)
"""Counts the jobs that `user_id` has in flight in `queue`."""


def move_of(before: Job, changed: Mapping[str, Any], new_events: int) -> tuple[ReturningUpdate[Any], dict[str, Any]]:
    """The update of a job whose row is still as `before` in all columns that moves change, with its parameters."""
    compared = {f"before_{name}": getattr(before, name) for name in _COMPARED}
    written = {f"after_{name}": value for name, value in changed.items()}
    return _move_of(tuple(changed)), {**compared, **written, "new_events": new_events}


@cache
def _move_of(changed: tuple[str, ...]) -> ReturningUpdate[Any]:
    """Builds the statement; there are as many of them as there are kinds of moves."""
    values: dict[str, Any] = {name: bindparam(f"after_{name}", type_=jobs.c[name].type) for name in changed}
    values["last_seq"] = jobs.c.last_seq + bindparam("new_events")
    unmoved = (jobs.c[name] == bindparam(f"before_{name}") for name in _COMPARED)
    return update(jobs).where(*unmoved).values(values).returning(*jobs.c)
