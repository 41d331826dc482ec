"""The rules for reservations that start later; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from wavepool.scheduler.v1 import reservations_pb2

from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.reservation_calendar import Booking, Calendar
from submissions.checks import Violations
from vocabulary.counts import counted

START_FIELD = "spec.start_time"
_WHOLE_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class DatedLimits:
    """How far ahead a start may be, and what a user may have ahead: reservations and GPUs; 0: no limit."""

    most_ahead: timedelta
    most_of_user: int
    most_gpus_of_user: int
    start_within: timedelta
    """It fails if there are no GPUs for it so long after its start."""


def start_of(asked: reservations_pb2.ReservationSpec) -> datetime | None:
    """The start that is asked for, in whole seconds; None for as soon as possible. Raises InvalidFieldError."""
    if not asked.HasField("start_time"):
        return None
    try:
        return asked.start_time.ToDatetime(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        fault = f"is {asked.start_time.seconds} s since 1970, which is not a valid time"
        raise InvalidFieldError(START_FIELD, fault) from None


def wrong_start(
    start: datetime | None, asked: reservations_pb2.ReservationSpec, limits: DatedLimits, now: datetime
) -> Violations:
    """What is wrong with a start."""
    if start is None:
        return []
    wrong: Violations = []
    if start <= now:
        wrong.append((START_FIELD, f"is {time_text(start)}, which is past: it is {time_text(now)}. Give a later time"))
    elif start - now > limits.most_ahead:
        last = time_text(now + limits.most_ahead)
        days = limits.most_ahead / timedelta(days=1)
        wrong.append((START_FIELD, f"is {time_text(start)}; at most {days:g} days ahead are possible, until {last}"))
    if asked.fallback_gpu_types:
        fault = "cannot be given with a start: its GPUs are kept for it, and are of one type. Leave them out"
        wrong.append(("spec.fallback_gpu_types", fault))
    return wrong


def latest_start(start: datetime, reservation: Reservation, limits: DatedLimits) -> datetime:
    """The last moment at which a dated reservation may get its GPUs: later than that it fails."""
    return start + min(limits.start_within, reservation.total)


def above_dated_limits(asked: Job, others: Iterable[Job], limits: DatedLimits) -> str:
    """Why a user may not have this beside the other dated ones of theirs, with what is possible; else empty."""
    own = [job for job in others if job.user_id == asked.user_id and job.job_id != asked.job_id]
    if limits.most_of_user and len(own) >= limits.most_of_user:
        return (
            f"you have {len(own)} reservations that start later, and {limits.most_of_user} are the most "
            "(SCHEDULER_MOST_DATED_OF_USER). Cancel one, or wait until one has started"
        )
    gpus, has = asked.spec.gpus_in_all, sum(job.spec.gpus_in_all for job in own)
    if limits.most_gpus_of_user and has + gpus > limits.most_gpus_of_user:
        left = max(0, limits.most_gpus_of_user - has)
        return (
            f"your reservations that start later have {has} GPUs, of {limits.most_gpus_of_user} for each user "
            f"(SCHEDULER_MOST_DATED_GPUS_OF_USER); {left} more are possible"
        )
    return ""


def conflict_text(asked: Booking, calendar: Calendar, names: Iterable[str], others: int, last: datetime) -> str:
    """Why a reservation does not fit, and the nearest start that works.

    `names` are those in the way whose names the caller may see, and `others` is the number of the rest.
    """
    most, at = calendar.most_gpus, time_text(asked.begin)
    largest = max((machine.gpus for machine in calendar.machines), default=0)
    if not largest:
        return f"is {at}, but there is no machine of the type, and the pool may start none (VMPOOL_MAX_MACHINES)"
    if largest < asked.gpus:
        return f"is {at}, but no machine has more than {counted(largest, 'GPU')}; it needs {_asked_text(asked)}"
    enough = sum(machine.gpus >= asked.gpus for machine in calendar.machines)
    if enough < asked.machines:
        there = f"{enough} machines have so many GPUs, those that the pool may start among them (VMPOOL_MAX_MACHINES)"
        return f"is {at}, but {there}; it needs {_asked_text(asked)}"
    if most is not None and asked.gpus_in_all > most:
        cap = f"reservations that start later may have {most} GPUs together (SCHEDULER_DATED_SHARE)"
        return f"is {at}, but {asked.gpus_in_all} GPUs are too many: {cap}"
    known = [*names, *([f"{others} of other accounts"] if others else [])]
    in_the_way = f"In the way: {', '.join(known)}. " if known else ""
    nearest = calendar.nearest_start(asked, last)
    then = f"The nearest start that works is {time_text(nearest or last)}"
    if nearest is None:
        then = f"No start until {time_text(last)} works"
    free, until = calendar.free_gpus(asked), time_text(asked.end)
    has = f"{counted(free, 'GPU')} {'is' if free == 1 else 'are'} free until {until}, and it needs {_asked_text(asked)}"
    return f"is {at}; then {has}. {in_the_way}{then}"


def _asked_text(asked: Booking) -> str:
    if asked.machines > 1:
        return f"{asked.gpus_in_all} GPUs of {asked.machines} whole machines"
    return f"{counted(asked.gpus, 'GPU')} of one machine"


def extension_conflict_text(wanted: timedelta, longest: timedelta) -> str:
    """Why a running reservation cannot have so much more time, and how much it can have."""
    whole = longest - longest % timedelta(seconds=1)
    if whole < _WHOLE_MINUTE:
        return "cannot be added: a reservation that starts then needs the GPUs. No more time is possible"
    hours, minutes = whole / timedelta(hours=1), whole // _WHOLE_MINUTE
    return (
        f"is {wanted / timedelta(hours=1):.4g} h; a reservation that starts before that is over needs the GPUs. The "
        f"longest that is possible is {counted(minutes, 'minute')} ({int(hours * 10_000) / 10_000:g} h)"
    )


def time_text(instant: datetime) -> str:
    """An instant for people, with its zone."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
