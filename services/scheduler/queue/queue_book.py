"""The tree of queues in force, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.scheduler.fairness.settings import Queues
from services.scheduler.jobs.errors import QueueClosedError, UnknownQueueError
from vocabulary.limits import DEFAULT_QUEUE

if TYPE_CHECKING:
    from services.scheduler.store.queue_store import QueueStore

log = get_logger(__name__)


class QueueBook:
    """The loop that reads the tree again when another process has changed it."""

    name = "queue-book"

    def __init__(self, store: QueueStore) -> None:
        self._store = store
        self.queues = Queues([])
        self.generation = 0

    async def run_once(self) -> None:
        """Reads the tree if it has changed."""
        if await self._store.generation() != self.generation:
            self.queues, self.generation = await self._store.read()
            log.info("queues read", extra={"generation": self.generation, "queues": len(self.queues.by_name)})

    async def replace(self, queues: Queues, generation: int) -> None:
        """Stores another tree in place of that generation's, and brings it into force; raises what the store does."""
        self.generation = await self._store.replace(queues, generation)
        self.queues = queues

    def most_of_user(self, name: str) -> int:
        """How many jobs in flight a user may have in the queue: the least that it or one above it says; 0: any."""
        limits = [queue.max_jobs_per_user for queue in self.queues.upwards(name)] if name in self.queues.leaves else []
        return min(filter(None, limits), default=0)

    def taking_jobs(self, name: str) -> str:
        """The queue that a new job goes to; `name` may be empty. Raises UnknownQueueError, QueueClosedError."""
        known = name.strip() or DEFAULT_QUEUE
        if known not in self.queues.leaves:
            raise UnknownQueueError(name, sorted(self.queues.leaves))
        for queue in self.queues.upwards(known):
            if queue.closed:
                raise QueueClosedError(known, queue.name)
        return known
