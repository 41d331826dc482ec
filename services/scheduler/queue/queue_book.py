"""The tree of queues in force, in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from servicekit.logging import get_logger
from services.scheduler.fairness.settings import NO_CLASS, JobClass, Queues
from services.scheduler.jobs.errors import InvalidFieldError, QueueClosedError, UnknownQueueError
from services.scheduler.store.queue_store import QueueStore
from vocabulary.limits import DEFAULT_QUEUE
from vocabulary.names import none_of

log = get_logger(__name__)


class QueueBook:
    """The loop that reads the tree again when another process has changed it."""

    name = "queue-book"

    def __init__(self, store: QueueStore) -> None:
        self._store = store
        self.queues = Queues([])
        self.generation = 0
        self.order_listeners: list[Callable[[], None]] = []
        """Called after the orderings or the classes have changed, which those who wait are sorted by."""

    async def run_once(self) -> None:
        """Reads the tree if it has changed."""
        if await self._store.generation() != self.generation:
            self._take(*await self._store.read())
            log.info("queues read", extra={"generation": self.generation, "queues": len(self.queues.by_name)})

    async def replace(self, queues: Queues, generation: int) -> None:
        """Stores another tree in place of that generation's, and brings it into force; raises what the store does."""
        self._take(queues, await self._store.replace(queues, generation))

    def _take(self, queues: Queues, generation: int) -> None:
        same_order = queues.orders_as(self.queues)
        self.queues, self.generation = queues, generation
        for changed in () if same_order else self.order_listeners:
            changed()

    def most_of_user(self, name: str) -> int:
        """How many jobs in flight a user may have in the queue: the least that it or one above it says; 0: any."""
        limits = [queue.max_jobs_per_user for queue in self.queues.upwards(name)] if name in self.queues.leaves else []
        return min(filter(None, limits), default=0)

    def longest_run(self, name: str, operators_limit: timedelta) -> timedelta:
        """The longest time of one attempt at a job: the least that the queue, one above it or the operator says."""
        limits = (queue.time_limit for queue in self.queues.upwards(name))
        return min([operators_limit, *(limit for limit in limits if limit is not None)])

    def job_class(self, queue: str, asked: str) -> tuple[str, JobClass]:
        """The class of a new job in a queue, by name; `asked` may be empty. Raises InvalidFieldError."""
        classes, default = self.queues.classes(queue)
        name = asked.strip() or default
        if name and name not in classes:
            known = none_of(name, list(classes)) if classes else f"is {name[:63]!r}, and queue {queue!r} has no classes"
            raise InvalidFieldError("spec.job_class", f"{known}; leave it out for the queue's default")
        return name, classes.get(name, NO_CLASS)

    def taking_jobs(self, name: str) -> str:
        """The queue that a new job goes to; `name` may be empty. Raises UnknownQueueError, QueueClosedError."""
        known = name.strip() or DEFAULT_QUEUE
        if known not in self.queues.leaves:
            raise UnknownQueueError(name, sorted(self.queues.leaves))
        for queue in self.queues.upwards(known):
            if queue.closed:
                raise QueueClosedError(known, queue.name)
        return known
