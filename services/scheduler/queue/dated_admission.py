"""Admits reservations that start later, and more time for those that run, if all that was promised can be honoured."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import timedelta

from servicekit.logging import get_logger
from services.scheduler.jobs.dated_limits import (
    START_FIELD,
    DatedLimits,
    above_dated_limits,
    conflict_text,
    extension_conflict_text,
)
from services.scheduler.jobs.errors import CalendarConflictError, CalendarUnreadyError, TooMuchReservedError
from services.scheduler.jobs.job import Job
from services.scheduler.peers.pool import Pool, PoolError, PoolLimits
from services.scheduler.queue.borrowing import Borrowing
from services.scheduler.queue.dated_book import DatedBook

log = get_logger(__name__)


LIMITS_INTERVAL = timedelta(seconds=5)
"""Estimates may be so much behind what the pool may start, and how long its starts take."""


class DatedAdmission:
    """Looks at the calendar, with the machines that the pool may start. As a loop, it asks the pool which these are."""

    name = "pool limits"

    def __init__(self, pool: Pool, dated: DatedBook, limits: DatedLimits, borrowing: Borrowing) -> None:
        self.borrowing = borrowing
        self._pool = pool
        self._dated = dated
        self.limits = limits

    async def run_once(self) -> None:
        """Keeps what is known of the pool's limits fresh, for estimates."""
        await self.pool_limits()

    def admit(self, job: Job) -> None:
        """Keeps the GPUs for a new reservation, from now on.

        Raises TooMuchReservedError, CalendarConflictError, CalendarUnreadyError.
        """
        if why := above_dated_limits(job, self._dated.jobs(), self.limits):
            raise TooMuchReservedError(f"{why[0].upper()}{why[1:]}.")
        self.check(job)
        self._dated.put(job)

    def check_extension(self, job: Job, more: timedelta) -> None:
        """Raises CalendarConflictError if others are to have a running reservation's GPUs by then, or are owed them."""
        self.borrowing.check_extension(job, job.reserved.total + more)
        longest = self._dated.longest_extension(job, more)
        if longest < more:
            raise CalendarConflictError("duration", extension_conflict_text(more, longest))

    async def pool_limits(self) -> PoolLimits:
        """What machines the pool may have, as far as is known; the checks that follow go by it, too."""
        try:
            self._dated.limits = await self._pool.limits()
        except PoolError as error:
            # The machines that are there count in any case. Nothing is refused for money that may be there again.
            self._dated.limits = self._dated.limits._replace(never_paid={})
            log.warning("the pool's limits are not known now", extra={"reason": str(error)})
        return self._dated.limits

    def may_have(self, gpu_types: Iterable[str]) -> bool:
        """False if there is no machine of these types, and the pool can start none."""
        return any(map(self._dated.may_have, gpu_types))

    def never_paid(self, gpu_types: Iterable[str]) -> str:
        """Why the pool has no money for a machine of one of these types; empty if it may have."""
        unpaid = self._dated.limits.never_paid
        reasons = [unpaid.get(gpu_type, "") for gpu_type in gpu_types]
        return reasons[0] if all(reasons) else ""

    def largest_machine(self, gpu_types: Iterable[str]) -> int:
        """The GPUs of the largest machine of these types that there is or may be; 0 if nobody knows what may be."""
        is_known = self._dated.limits.machines and self._dated.knows_machines
        return max(map(self._dated.largest, gpu_types)) if is_known else 0

    def image_sources(self, gpu_types: Collection[str]) -> list[tuple[str, ...] | None]:
        """The registries of each machine of these types that is ready."""
        return self._dated.image_sources(gpu_types)

    def longest_time(self, job: Job) -> timedelta | None:
        """For how long a reservation can have a machine that the pool starts; None if one that is there lasts."""
        begin = job.reserved.start_time or job.create_time
        if self._dated.lasts(job.spec.gpu_types, begin + job.reserved.longest_lease):
            return None
        return self._dated.limits.longest_time

    def check(self, job: Job) -> None:
        """Raises CalendarConflictError if it cannot be honoured, and CalendarUnreadyError if that is not known yet."""
        if not self._dated.is_loaded:
            raise CalendarUnreadyError
        asked, calendar = self._dated.booking(job), self._dated.calendar(job.spec.gpu_type)
        self.borrowing.check_start(job, asked, self._dated.uses(job.spec.gpu_type))
        if calendar.fits(asked):
            return
        names, others = self._dated.names_of(calendar.in_the_way(asked), job.account_id)
        last = job.create_time + self.limits.most_ahead
        raise CalendarConflictError(START_FIELD, conflict_text(asked, calendar, names, others, last))
