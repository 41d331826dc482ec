"""Reports to the pool how much work waits, so that it starts machines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

from servicekit.logging import get_logger
from services.scheduler.jobs.resources import Reuse
from services.scheduler.jobs.spec import WorkKind
from services.scheduler.peers.pool import Blocked, Pool
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.waiting import Lane, WaitingJobs

log = get_logger(__name__)

# The pool may forget it when it restarts.
REPEAT_SECONDS = 5.0

AGAIN_SECONDS = 60.0
"""A type of which the pool starts no machine for a job of several is asked for again so much later."""

MOST_OWN_MACHINES = 100
"""So many jobs, the oldest, have machines of their own started at a time; the others follow."""


class DemandReporter:
    """Reports changed demand at once, and unchanged demand from time to time.

    `has_time` is False of work that would not end on a new machine before somebody else is to have it.
    """

    def __init__(
        self,
        pool: Pool,
        waiting: WaitingJobs,
        inventory: Inventory,
        has_time: Callable[[Lane], bool] = lambda _lane: True,
    ) -> None:
        self._has_time = has_time
        self._in_vain: set[Lane] = set()
        """Those that no machine was asked for last, as they have no time on it."""
        self._pool = pool
        self._waiting = waiting
        self._inventory = inventory
        self._reported: dict[WorkKind, int] = {}
        self._reported_at = 0.0
        self._blocked: Mapping[Blocked, str] = {}
        self._refused: dict[Blocked, float] = {}
        """When the pool said last that it starts no such machine for a job of several."""

    async def report(self) -> None:
        """Reports to the pool if there is news; raises PoolError."""
        demand = self._demand()
        stale = bool(demand) and time.monotonic() - self._reported_at >= REPEAT_SECONDS
        if demand == self._reported and not stale:
            return
        blocked = await self._pool.report_demand(demand)
        several = {_key(self._kind(lane)) for lane in self._waiting.lanes() if lane.machines > 1}
        now = time.monotonic()
        self._refused = {key: at for key, at in self._refused.items() if now - at < AGAIN_SECONDS}
        self._refused |= dict.fromkeys(several & blocked.keys(), now)
        self._reported, self._reported_at = demand, time.monotonic()
        if blocked != self._blocked:
            log.info(
                "demand is blocked" if blocked else "demand is met",
                extra={"reasons": {"/".join(gpu_types): reason for (gpu_types, *_), reason in blocked.items()}},
            )
            self._blocked = blocked

    def blocked(self, lane: Lane) -> str:
        """Why no further machine is started for such work, with the next step; empty if one is, or need not be."""
        if not self._inventory.can_have(lane.resources, lane.gpu_types):
            types, what = " or ".join(lane.gpu_types), lane.resources
            return f"no machine with {types} can give {what}: its GPUs are not in such partitions, or not shared"
        if lane.reuse is Reuse.REUSE:
            return ""
        if why := self._waiting.hopeless.get(lane):
            return why
        if lane in self._in_vain:
            return "what is kept for reservations that start later leaves no time on it"
        return self._blocked.get(_key(self._kind(lane)), "")

    def _kind(self, lane: Lane) -> WorkKind:
        """What the pool is asked for. Of several types it might start a machine each, which is nothing for a gang.

        So that is for one type: the first that has enough machines, else the first that the pool did not refuse.
        """
        if lane.machines == 1 or len(lane.gpu_types) == 1:
            return lane.kind
        kinds = [lane.kind._replace(gpu_types=(gpu_type,)) for gpu_type in lane.gpu_types]
        enough = self._inventory.type_with(lane.machines, lane.resources.least.gpus, lane.gpu_types)
        able = [one for one in kinds if enough in one.gpu_types]
        return next(iter([*able, *(one for one in kinds if _key(one) not in self._refused), *kinds]))

    def _demand(self) -> dict[WorkKind, int]:
        """Jobs by kind, without those for which a machine would be asked for in vain."""
        numbers: Counter[WorkKind] = Counter()
        self._in_vain = {lane for lane in self._waiting.lanes() if not self._has_time(lane)}
        for lane, jobs in self._waiting.lanes().items():
            # The next machine will be partitioned as those before it were.
            can_be_had = self._inventory.can_have(lane.resources, lane.gpu_types) and lane not in self._waiting.hopeless
            if lane.reuse is not Reuse.REUSE and can_be_had and lane not in self._in_vain:
                numbers[self._kind(lane)] += jobs * lane.machines
        # Ids sort by time.
        beyond = sorted((kind for kind in numbers if kind.own_job_id), key=lambda kind: kind.own_job_id)
        for kind in beyond[MOST_OWN_MACHINES:]:
            del numbers[kind]
        return dict(numbers)


def _key(kind: WorkKind) -> Blocked:
    return kind.gpu_types, kind.gpus, kind.own_job_id, kind.longest_seconds
