"""Errors of the scheduler: refused requests, and jobs that changed or cannot make a move.

SchedulerError
├── InvalidRequestError
│   └── InvalidFieldError
├── JobNotFoundError
├── ReservationNotFoundError
├── NotYoursError
├── KeyOpensNothingError
├── DiskNotFoundError
├── DiskExistsError
├── DiskInUseError
├── TooManyDisksError
├── WrongReservationStateError
├── MachineUnreachableError
├── IdempotencyKeyReusedError
├── PriorityNotAllowedError
├── ClassNotAllowedError
├── UnknownQueueError
├── QueueClosedError
├── QueueFullError
├── QueueHasJobsError
├── QueuesChangedError
├── CreditRefusedError
├── TooManyJobsError
├── TooManySubmissionsError
├── TooMuchReservedError
├── CalendarConflictError
├── CalendarUnreadyError
├── NotComparableError
├── BillingUnreachableError
├── StoppingError
├── IllegalMoveError
└── StaleJobError
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from vocabulary.names import none_of


class SchedulerError(Exception):
    """A refusal whose message is meant for the caller."""


class InvalidRequestError(SchedulerError):
    """Fields of a request are wrong; `violations` has each field's name with its fault and the fix."""

    def __init__(self, violations: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{field}: {description}" for field, description in violations))
        self.violations = tuple(violations)


class InvalidFieldError(InvalidRequestError):
    """One field of a request is wrong."""

    def __init__(self, field: str, description: str) -> None:
        super().__init__([(field, description)])


class JobNotFoundError(SchedulerError):
    """The account has no such job."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"This account has no job {job_id[:80]!r}.")


class ReservationNotFoundError(SchedulerError):
    """The account has no such reservation."""

    def __init__(self, reservation_id: str) -> None:
        super().__init__(
            f"There is no reservation {reservation_id[:80]!r} in this account. `wavepool reservations --status all` "
            "shows all that there are."
        )


class NotYoursError(SchedulerError):
    """The reservation is another user's, and the caller may not change it; for a manager, because of its `disk`."""

    def __init__(self, reservation_id: str, disk: str = "") -> None:
        may = "its owner, users whom the owner lets change it, managers of the team, and operators"
        why = f", and the home is its owner's disk {disk!r}, which managers may not open to others" if disk else ""
        super().__init__(
            f"{reservation_id} is another user's{why}. Only {may} may change it, or who logs in. Ask its owner: "
            "`wavepool reservations edit --add-editor` lets you do that."
        )


class NotYourSubmissionError(SchedulerError):
    """The submission is another user's, and the caller may neither name nor share it."""

    def __init__(self, job_id: str) -> None:
        super().__init__(
            f"{job_id} is another user's: only its user and managers of the team may name or share it. Ask one of them."
        )


class KeyOpensNothingError(SchedulerError):
    """No reservation that people can log in to has the key; or none of this name, if `host` is given."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"No reservation that your key opens is called {host[:80]!r}."
            if host
            else "Your key opens no reservation now. Ask its owner to add it: `wavepool reservations edit --add-user`."
        )


class DiskNotFoundError(SchedulerError):
    """The user has no such disk; `names` are those that there are."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        make = "`wavepool disk create` makes one"
        has = f"{none_of(name, names)}; {make}" if names else f"you have no disk {name[:80]!r}; {make}"
        super().__init__(f"spec.disk: {has}.")
        self.violations = (("spec.disk", has),)


class DiskExistsError(SchedulerError):
    """The user has a disk of that name already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"You have a disk {name!r} already. Use it, or choose another name.")


class DiskInUseError(SchedulerError):
    """A reservation holds the disk."""

    def __init__(self, name: str, holder_id: str, state: str) -> None:
        said = f"{name!r} is held by {holder_id}, which is {state}"
        advice = (
            "One reservation at a time writes to a disk. Give --disk none, another disk, or a clone: "
            f"`wavepool disk clone {name} NEW`; or end that one: `wavepool cancel {holder_id}`"
        )
        super().__init__(f"spec.disk: {said}. {advice}.")
        self.violations = (("spec.disk", f"{said}. {advice}"),)


class TooManyDisksError(SchedulerError):
    """The user has as many disks as one may have."""

    def __init__(self, most: int) -> None:
        super().__init__(f"You have {most} disks, which is the limit. Delete one: `wavepool disk delete NAME`.")


class TooManyBuildsError(SchedulerError):
    """The account has as many archives to build images from as one may have."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"This account has sent {most} different folders to build images from in the last day, which is the limit. "
            "Wait until the oldest is a day old, or push the image to a registry."
        )


class WrongReservationStateError(SchedulerError):
    """The reservation's state does not allow it; the message says which would, or what to do."""


class MachineUnreachableError(SchedulerError):
    """The machine of a reservation does not answer, so that nothing was changed, or perhaps not all."""

    # With it, the text reaches people: without, gateways say that nothing was changed.
    retry_after = timedelta(seconds=5)


class IdempotencyKeyReusedError(SchedulerError):
    """The key belongs to another submission."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The idempotency key {key!r} was used with other content. Use a new key for a new submission."
        )


class PriorityNotAllowedError(SchedulerError):
    """The priority needs a right that the account lacks; `violations` as in InvalidRequestError.

    `said_by` is the queue, the job's own or one above, that gives the account `most`; empty if none says anything.
    """

    def __init__(self, priority: int, most: int, queue: str, said_by: str) -> None:
        why = f"queue {said_by!r} says so" if said_by else "no queue lets it have more"
        description = (
            f"is {priority}; in queue {queue!r} this account may have at most {most}: {why}. Give {most} or less, ask "
            "an operator to raise maxPriority of the queue, or use the token of an administrator"
        )
        super().__init__(f"spec.priority: {description}")
        self.violations = (("spec.priority", description),)


class ClassNotAllowedError(SchedulerError):
    """The class needs a right that the account lacks; `violations` as in InvalidRequestError."""

    def __init__(self, name: str) -> None:
        description = f"{name!r} needs the token of an administrator in this queue. Leave it out, or name another class"
        super().__init__(f"spec.job_class: {description}.")
        self.violations = (("spec.job_class", description),)


class UnknownQueueError(SchedulerError):
    """There is no such queue, or it is one that takes no jobs."""

    def __init__(self, name: str, leaves: Sequence[str]) -> None:
        refusal = f"{none_of(name, leaves)}. `wavepool queues` shows them all"
        super().__init__(f"spec.queue: {refusal}.")
        self.violations = (("spec.queue", refusal),)


class QueueClosedError(SchedulerError):
    """The queue, or one above it, takes no new jobs."""

    def __init__(self, name: str, closed: str) -> None:
        above = f" because {closed!r}, above it, is closed" if closed != name else ""
        refusal = f"{name!r} takes no new jobs{above}. Name another, or ask its operator to open it"
        super().__init__(f"spec.queue: {refusal}.")
        self.violations = (("spec.queue", refusal),)


class QueueFullError(SchedulerError):
    """The user has as many jobs in flight in this queue as one may have."""

    def __init__(self, name: str, limit: int) -> None:
        jobs = "a job" if limit == 1 else f"{limit} jobs"
        refusal = f"{name!r} has {jobs} of yours in flight, which is its limit for each user. Wait until one is over"
        super().__init__(f"spec.queue: {refusal}.")
        self.violations = (("spec.queue", refusal),)


class QueueHasJobsError(SchedulerError):
    """A queue cannot go, or get children, while it has jobs."""

    def __init__(self, name: str, count: int, *, goes: bool) -> None:
        what = "cannot be removed" if goes else "cannot get queues below it"
        number = "a job" if count == 1 else f"{count} jobs"
        super().__init__(
            f"Queue {name!r} {what} while it has {number} in flight. Close it with `wavepool queues close {name}`, "
            "wait until they are over, and try again."
        )


class QueuesChangedError(SchedulerError):
    """The tree has changed since it was looked at."""

    def __init__(self) -> None:
        super().__init__("The queues have changed meanwhile. Look at the difference again.")


class CreditRefusedError(SchedulerError):
    """The credit does not cover the most that the job can cost; the message comes from billing."""


class TooManyJobsError(SchedulerError):
    """The account has reached its limit of jobs in flight."""

    def __init__(self, limit: int, in_flight: int, retry_after: timedelta) -> None:
        super().__init__(
            f"{in_flight} jobs of this account are in flight; the limit is {limit}. Wait until one is over, probably "
            f"in {_whole_seconds(retry_after)} s, or cancel one. The operator can raise SCHEDULER_MAX_JOBS_IN_FLIGHT."
        )
        self.retry_after = retry_after


class TooManySubmissionsError(SchedulerError):
    """The account has reached its limit of submissions per hour."""

    def __init__(self, limit: int, submissions: int, retry_after: timedelta, now: datetime) -> None:
        # Rounded up: a second too early would be refused again.
        possible = now + retry_after + timedelta(seconds=1) - timedelta.resolution
        super().__init__(
            f"This account made {submissions} submissions in the last hour; the limit is {limit}. The next one is "
            f"possible at {possible:%H:%M:%S} UTC, in {_whole_seconds(retry_after)} s. The operator can raise "
            "SCHEDULER_MAX_SUBMISSIONS_PER_HOUR."
        )
        self.retry_after = retry_after


class TooMuchReservedError(SchedulerError):
    """The user has reached a limit of reservations; the message says what is possible."""


class CalendarConflictError(SchedulerError):
    """The GPUs are not free at that time, or owed to others; `violations` say what is possible."""

    def __init__(self, field: str, description: str) -> None:
        super().__init__(f"{field}: {description}.")
        self.violations = ((field, description),)


class MaintenanceError(SchedulerError):
    """Nobody may reserve the GPU type now, or others may; `violations` as in InvalidRequestError, with the reason."""

    def __init__(self, field: str, description: str) -> None:
        super().__init__(f"{field}: {description}.")
        self.violations = ((field, description),)


class CalendarUnreadyError(SchedulerError):
    """Not all that runs and starts later has been read yet."""

    def __init__(self) -> None:
        super().__init__(
            "The scheduler has just become the leader and is reading the reservations. Try again in a moment."
        )


class NotComparableError(SchedulerError):
    """The times of two jobs say nothing about each other."""


class BillingUnreachableError(SchedulerError):
    """Billing does not answer."""

    def __init__(self) -> None:
        super().__init__("Billing cannot be reached, so nothing was stored. Try again.")


class StoppingError(SchedulerError):
    """The scheduler is stopping; jobs go on when it is back."""

    def __init__(self) -> None:
        super().__init__("The scheduler is stopping. Nothing is lost: watch again from the last event that you have.")


class IllegalMoveError(SchedulerError):
    """The table of legal moves has no such move, which is a bug."""

    def __init__(self, job_id: str, before: str, after: str) -> None:
        super().__init__(f"Job {job_id} cannot go from {before} to {after}.")


class StaleJobError(SchedulerError):
    """The row has changed since it was read. Read it again and decide again."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job {job_id} has changed meanwhile.")


def _whole_seconds(duration: timedelta) -> int:
    return math.ceil(duration.total_seconds())
