"""Hands the events of each commit to the followers of the job in this process, and wakes those of an account.

It is not a `servicekit.feed.Feed`, because it carries the events, so that a follower need not read the rows again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby

from services.scheduler.jobs.errors import StoppingError
from services.scheduler.jobs.job import JobEvent

# A reader that is further behind reads the rows instead.
MAX_PENDING_EVENTS = 512


class Subscription:
    """One follower's queue of committed events, with a bell that also rings if rows must be read again."""

    def __init__(self) -> None:
        self._pending: deque[JobEvent] = deque(maxlen=MAX_PENDING_EVENTS)
        self._bell = asyncio.Event()
        self._rows_due = False
        self._closed = False
        self.last_seq = 0
        """Sequence number of the last event that was announced."""

    def announce(self, events: Sequence[JobEvent]) -> None:
        """Queues committed events; if too many wait, the oldest are dropped, and the reader sees the gap."""
        self._pending.extend(events)
        self.last_seq = max(self.last_seq, events[-1].seq)
        self._bell.set()

    def ring(self) -> None:
        """Wakes the follower to read rows that were not announced."""
        self._rows_due = True
        self._bell.set()

    def close(self) -> None:
        """Ends the subscription: nothing is announced any more."""
        self._closed = True
        self._bell.set()

    async def next(self) -> list[JobEvent] | None:
        """Waits for events and gives those since the last call; None if the rows must be read instead.

        Raises StoppingError once the scheduler is stopping.
        """
        await self._bell.wait()
        if self._closed:
            raise StoppingError
        self._bell.clear()
        rows_due, self._rows_due = self._rows_due, False
        events = list(self._pending)
        self._pending.clear()
        return None if rows_due else events


class EventHub:
    """The subscriptions of this process, by job; or by account, with revisions as sequence numbers."""

    def __init__(self) -> None:
        self._subscriptions: defaultdict[str, set[Subscription]] = defaultdict(set)
        self._closed = False

    @contextmanager
    def subscription(self, job_id: str) -> Generator[Subscription]:
        """Subscribes to one job's events from now on."""
        subscription = Subscription()
        if self._closed:
            subscription.close()
        self._subscriptions[job_id].add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions[job_id].discard(subscription)
            if not self._subscriptions[job_id]:
                del self._subscriptions[job_id]

    def close(self) -> None:
        """Ends all subscriptions, including later ones."""
        self._closed = True
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.close()

    @property
    def followers(self) -> int:
        """Number of subscriptions."""
        return sum(len(subscriptions) for subscriptions in self._subscriptions.values())

    def followed(self) -> list[str]:
        """The IDs of the jobs that have a follower."""
        return list(self._subscriptions)

    def announce(self, events: Sequence[JobEvent]) -> None:
        """Passes events to their followers; call it after the commit, and in order for each job."""
        for job_id, of_job in groupby(events, key=lambda event: event.job_id):
            batch = list(of_job)
            for subscription in self._subscriptions.get(job_id, ()):
                subscription.announce(batch)

    def ring(self, last_seqs: Mapping[str, int]) -> None:
        """Wakes the followers that have not received events up to these sequence numbers."""
        for job_id, last_seq in last_seqs.items():
            for subscription in self._subscriptions.get(job_id, ()):
                if subscription.last_seq < last_seq:
                    subscription.last_seq = last_seq
                    subscription.ring()
