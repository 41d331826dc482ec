"""Follows a job's log: first the rows, then announced events, and rows again if there is a gap.

Follows the submissions of an account likewise: those that changed are read whenever a poller has seen a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from servicekit.db.leader_lease import LeaderLease
from servicekit.logging import get_logger
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.queue.event_hub import EventHub
from services.scheduler.store.job_reader import JobReader

log = get_logger(__name__)

EVENTS_IN_A_READ = 500
JOBS_IN_A_READ = 100


class Watcher:
    """Gives each event after a sequence number exactly once, in order, up to the last."""

    def __init__(self, reader: JobReader, hub: EventHub) -> None:
        self._reader = reader
        self._hub = hub

    async def follow(self, job_id: str, after_seq: int) -> AsyncGenerator[JobEvent]:
        """Yields the events; ends after the last one, even if that is not after `after_seq`."""
        with self._hub.subscription(job_id) as subscription:
            if await self._ended_by(job_id, after_seq):
                return
            seen = after_seq
            announced: list[JobEvent] | None = None
            while True:
                async for event in self._after(job_id, seen, announced):
                    seen = event.seq
                    subscription.last_seq = max(subscription.last_seq, seen)
                    yield event
                    if event.last:
                        return
                announced = await subscription.next()

    async def _after(self, job_id: str, seen: int, announced: list[JobEvent] | None) -> AsyncGenerator[JobEvent]:
        if announced is not None:
            fresh = [event for event in announced if event.seq > seen]
            if [event.seq for event in fresh] == list(range(seen + 1, seen + 1 + len(fresh))):
                for event in fresh:
                    yield event
                return
        rows_left = True
        while rows_left:
            rows = await self._reader.events(job_id, seen, EVENTS_IN_A_READ)
            for event in rows:
                yield event
                seen = event.seq
            # Events committed since then are announced.
            rows_left = len(rows) == EVENTS_IN_A_READ

    async def _ended_by(self, job_id: str, seq: int) -> bool:
        last = await self._reader.events(job_id, seq - 1, 1) if seq > 0 else []
        return bool(last and last[0].last)


class UnannouncedEvents:
    """The loop that looks for events that another process wrote, with one query for all followed jobs.

    It is how followers hear of events on SQLite, and a safety net on PostgreSQL, where a notification may be lost with
    its connection.
    """

    name = "unannounced-events"

    def __init__(self, reader: JobReader, hub: EventHub) -> None:
        self._reader = reader
        self._hub = hub

    async def run_once(self) -> None:
        """Wakes the followers of jobs whose log has grown without an announcement."""
        if followed := self._hub.followed():
            self._hub.ring(await self._reader.last_seqs(followed))


class NotifiedEvents:
    """The loop that hears of events that another process committed, on PostgreSQL.

    One pass lasts as long as its connection. The process that leads hears nothing: it announces all events itself.
    """

    name = "notified-events"

    def __init__(self, reader: JobReader, hub: EventHub, lease: LeaderLease) -> None:
        self._reader = reader
        self._hub = hub
        self._lease = lease
        self.listens = asyncio.Event()
        """Set while notifications are heard."""

    async def run_once(self) -> None:
        """Wakes followers until the connection breaks."""
        async with self._reader.hearing_last_seqs(self._heard) as broken:
            # Nothing was heard of events before now.
            self._hub.ring(await self._reader.last_seqs(self._hub.followed()))
            self.listens.set()
            try:
                await broken.wait()
            finally:
                self.listens.clear()
        log.warning("the connection for events of other processes broke")

    def _heard(self, job_id: str, last_seq: int) -> None:
        if not self._lease.leads:
            self._hub.ring({job_id: last_seq})


class JobChanges:
    """Gives the submissions of an account that have changed, in the order of their last changes.

    A submission that changes several times before it is read comes once, as it is then.
    """

    def __init__(self, reader: JobReader, hub: EventHub) -> None:
        """Waits at `hub`, whose keys are accounts and whose numbers are revisions."""
        self._reader = reader
        self._hub = hub

    async def follow(self, account_id: str, after: int | None) -> AsyncGenerator[tuple[int, Job | None]]:
        """Yields jobs that changed after a revision, each with the revision to go on from; never ends.

        If `after` is None, only the present revision comes first, and then what changes from now on. Raises
        InvalidFieldError if there has been no such revision.
        """
        with self._hub.subscription(account_id) as subscription:
            last = await self._reader.revision()
            if after is None:
                after = last
                yield after, None
            if not 0 <= after <= last:
                raise InvalidFieldError("after_revision", f"is {after}; give 0 to {last}, the last revision")
            while True:
                while changed := await self._reader.changed_jobs(account_id, after, JOBS_IN_A_READ):
                    for after, job in changed:
                        yield after, job
                subscription.last_seq = max(subscription.last_seq, after)
                await subscription.next()


class UnreadChanges:
    """The loop that looks for changes of jobs, whoever made them, with two queries for all followed accounts."""

    name = "unread-changes"

    def __init__(self, reader: JobReader, hub: EventHub) -> None:
        self._reader = reader
        self._hub = hub
        self._revision = 0

    async def run_once(self) -> None:
        """Wakes the followers of accounts whose jobs have changed since the last pass."""
        if not self._hub.followed():
            return
        # Before the followers are listed: who follows later reads all that has changed until now.
        last = await self._reader.revision()
        self._hub.ring(await self._reader.last_revisions(self._hub.followed(), self._revision))
        self._revision = last
