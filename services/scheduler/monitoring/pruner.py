"""The loops that forget what is kept for a time: the figures of attempts, and what jobs are made of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.store.attempt_reader import AttemptReader
from services.scheduler.store.old_jobs import FIRST, Kept, OldJobs

log = get_logger(__name__)


class AttemptPruner:
    """Forgets attempts that ended more than `kept` ago."""

    name = "attempt pruner"

    def __init__(self, attempts: AttemptReader, kept: timedelta, clock: Clock) -> None:
        self._attempts = attempts
        self._kept = kept
        self._clock = clock

    async def run_once(self) -> None:
        """Forgets what is due."""
        if forgotten := await self._attempts.forget(self._clock.now() - self._kept):
            log.info("old attempts were forgotten", extra={"attempts": forgotten})


class JobPruner:
    """Forgets each part of the jobs that were over longer ago than it is kept; zero keeps it for ever."""

    name = "job pruner"

    def __init__(self, jobs: OldJobs, kept: Mapping[Kept, timedelta], clock: Clock) -> None:
        self._jobs = jobs
        self._kept = {part: time for part, time in kept.items() if time}
        self._clock = clock
        self._places = dict.fromkeys(self._kept, FIRST)
        # They are behind the place, and were not over when it passed them.
        self._late = {part: set[str]() for part in self._kept}

    async def run_once(self) -> None:
        """Forgets what is due. The first pass of a process goes through all old jobs."""
        for part, time in self._kept.items():
            before = self._clock.now() - time
            forgotten = 0
            while found := await self._jobs.next_jobs(self._places[part], before):
                self._late[part] |= {place.job_id for place, is_over in found if not is_over}
                forgotten += await self._jobs.forget(part, [place.job_id for place, is_over in found if is_over])
                self._places[part] = found[-1][0]
            over = await self._jobs.over(self._late[part], before)
            self._late[part] -= {*over}
            forgotten += await self._jobs.forget(part, over)
            if forgotten:
                log.info("old jobs have lost a part", extra={"part": part, "jobs": forgotten})
