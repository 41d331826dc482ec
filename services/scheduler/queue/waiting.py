"""The waiting jobs in memory: read from the rows at start, and updated with every move.

They are kept in lanes, each in order, so that a pass looks at the first jobs of each lane only, and a position is found
without looking at the jobs ahead. A job is ranked when it comes, and again when the queues change: whatever an ordering
says in between, a lane stays sorted.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import NamedTuple

from services.scheduler import metrics
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.queue_state import Place
from services.scheduler.jobs.resources import Resources, Reuse
from services.scheduler.jobs.spec import WorkKind
from services.scheduler.queue.ordering import Claim, Rank


class Lane(NamedTuple):
    """Jobs that differ in nothing that a placement depends on, but their order."""

    queue: str
    gpu_types: tuple[str, ...]
    """The types that they may run on, the wanted one first."""
    has_definition: bool
    resources: Resources
    reuse: Reuse = Reuse.REUSE_OR_CREATE
    own_job_id: str = ""
    """Its only job, if that wants a machine that is started for it; else empty."""
    longest_seconds: int = 0
    """For how long its reservations have their machines; 0 for jobs, which are short."""
    machines: int = 1
    """How many machines each of its jobs takes."""
    waits_for_operator: bool = False
    """Its users know that nothing can take it before an operator changes something."""

    @property
    def place(self) -> Place:
        """The queue, and the wanted GPU type."""
        return self.queue, self.gpu_types[0]

    @property
    def kind(self) -> WorkKind:
        """What the pool is asked for."""
        resources = self.resources
        return WorkKind(
            self.gpu_types, resources.least.gpus, resources.eighths_of_each, self.own_job_id, self.longest_seconds
        )


class Ahead(NamedTuple):
    """Numbers of jobs that may take a job's machine before it."""

    in_queue: int
    in_others: int

    @property
    def position(self) -> int:
        """The job's own position, from 1."""
        return self.in_queue + self.in_others + 1


class WaitingJobs:
    """QUEUED and PROVISIONING jobs by id. `changed` is set whenever there may be something to dispatch.

    `rank` says where a job stands in its queue.
    """

    def __init__(self, rank: Callable[[Job], Rank]) -> None:
        self._rank = rank
        self._jobs: dict[str, Job] = {}
        self._ranks: dict[str, Rank] = {}
        self._lanes: defaultdict[Lane, list[Rank]] = defaultdict(list)
        self._since: defaultdict[Lane, list[datetime]] = defaultdict(list)
        self.claims: Mapping[str, Mapping[str, Claim]] = {}
        """What each queue has and may have, by GPU type and queue, as the last pass found it."""
        self.dated: dict[str, Job] = {}
        """Those that have a start of their own, and whose start is near."""
        self.hopeless: Mapping[Lane, str] = {}
        """Those whose jobs no machine can ever take, as was last found, and why: they are ahead of nobody."""
        self.doubtful: set[str] = set()
        """Those that were taken before it was known what their machines can give."""
        self.changed = asyncio.Event()

    def put(self, job: Job) -> None:
        """Adds a waiting job, or updates it after its row has changed."""
        if self._jobs.get(job.job_id) != job:
            if job.job_id not in self._jobs:
                rank = self._ranks[job.job_id] = self._rank(job)
                lane = lane_of(job)
                insort(self._lanes[lane], rank)
                insort(self._since[lane], job.create_time)
            self._jobs[job.job_id] = job
            if job.is_dated:
                self.dated[job.job_id] = job
            self.changed.set()
        metrics.jobs_waiting.set(len(self._jobs))

    def remove(self, job_id: str) -> None:
        """Removes a job that waits no longer."""
        job = self._jobs.pop(job_id, None)
        self.dated.pop(job_id, None)
        self.doubtful.discard(job_id)
        if job is not None:
            lane = lane_of(job)
            ranks = self._lanes[lane]
            del ranks[bisect_left(ranks, self._ranks.pop(job_id))]
            if not ranks:
                del self._lanes[lane]
            since = self._since[lane]
            del since[bisect_left(since, job.create_time)]
            if not since:
                del self._since[lane]
        self.changed.set()
        metrics.jobs_waiting.set(len(self._jobs))

    def rank(self, job: Job) -> Rank:
        """The place in its queue of a job that waits or is about to."""
        return self._ranks.get(job.job_id) or self._rank(job)

    def reorder(self) -> None:
        """Ranks all jobs again, after the queues have changed."""
        self._lanes.clear()
        for job in self._jobs.values():
            rank = self._ranks[job.job_id] = self._rank(job)
            self._lanes[lane_of(job)].append(rank)
        for ranks in self._lanes.values():
            ranks.sort()
        self.changed.set()

    def lanes(self) -> Mapping[Lane, int]:
        """The lanes that have jobs, with their number."""
        return {lane: len(ranks) for lane, ranks in self._lanes.items()}

    def since(self) -> Mapping[Lane, Sequence[datetime]]:
        """When the jobs of each lane began to wait, the earliest first."""
        return self._since

    def first(self, lane: Lane, most: int) -> list[Job]:
        """The first jobs of a lane, in order."""
        return [self._jobs[rank.job_id] for rank in self._lanes[lane][:most]]

    def in_turn(self, most: int, *, able: bool = False) -> list[Job]:
        """The first jobs of all queues, or those `able` to start, in the order in which they are likely to start."""
        wanted = [lane for lane in self._lanes if not (able and lane in self.hopeless)]
        turns = [
            self._in_turn(queue, (self._lanes[lane][:most] for lane in lanes), self._claim(queue, lanes[0].gpu_types))
            for queue, lanes in self._by_queue(wanted).items()
        ]
        return [self._jobs[rank.job_id] for _, rank in islice(merge(*turns), most)]

    def head(self, gpu_type: str) -> Job | None:
        """The job that is likely to start first of those that want a GPU type; None if nothing waits for it.

        One that can never start is the first only beside others of its kind.
        """
        lanes = [lane for lane in self._lanes if lane.gpu_types[0] == gpu_type]
        lanes = [lane for lane in lanes if lane not in self.hopeless] or lanes
        turns = (
            self._in_turn(queue, (self._lanes[lane][:1] for lane in those), self._claim(queue, (gpu_type,)), 1)
            for queue, those in self._by_queue(lanes).items()
        )
        first = next(merge(*turns), None)
        return self._jobs[first[1].job_id] if first else None

    def ahead(self, job: Job) -> Ahead:
        """Counts the jobs ahead of a job that waits or is about to."""
        numbers = self._numbers_ahead(job)
        own = numbers.pop(job.spec.queue)
        return Ahead(own, sum(numbers.values()))

    def jobs_ahead(self, job: Job, most: int) -> list[Job]:
        """The first of the jobs ahead, in the order in which they are likely to start."""
        lanes = self._by_queue(self._sharing(job))
        turns = [
            self._in_turn(
                queue,
                (self._lanes[lane][: min(most, self._before(job, lane))] for lane in lanes[queue]),
                self._claim(queue, job.spec.gpu_types),
                number,
            )
            for queue, number in self._numbers_ahead(job).items()
            if queue in lanes
        ]
        return [self._jobs[rank.job_id] for _, rank in islice(merge(*turns), most)]

    def first_gangs(self, gpu_type: str) -> list[Job]:
        """The jobs of several machines of a type that are the first of their queues, the longest wait first.

        Those that have a start of their own do not count: they are in nobody's way for long.
        """
        first: dict[str, Job] = {}
        for lane, ranks in self._lanes.items():
            rank = next((rank for rank in ranks if rank.job_id not in self.dated), None)
            if rank is None or gpu_type not in lane.gpu_types:
                continue
            known = first.get(lane.queue)
            if known is None or rank < self._ranks[known.job_id]:
                first[lane.queue] = self._jobs[rank.job_id]
        return sorted((job for job in first.values() if job.spec.machines > 1), key=self.rank)

    def jobs(self) -> Collection[Job]:
        """All of them, in no order."""
        return self._jobs.values()

    def get(self, job_id: str) -> Job | None:
        """The job if it waits."""
        return self._jobs.get(job_id)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._jobs

    def __len__(self) -> int:
        return len(self._jobs)

    def _numbers_ahead(self, job: Job) -> dict[str, int]:
        """By queue, the job's own included: how many jobs that share a GPU type with it are ahead."""
        lanes = self._by_queue(self._sharing(job))
        own = sum(self._before(job, lane) for lane in lanes.pop(job.spec.queue, ()))
        turn = self._claim(job.spec.queue, job.spec.gpu_types).turn(own)
        others = {queue: sum(len(self._lanes[lane]) for lane in those) for queue, those in lanes.items()}
        earlier = {
            queue: self._claim(queue, job.spec.gpu_types).earlier_than(turn, jobs) for queue, jobs in others.items()
        }
        return {job.spec.queue: own, **earlier}

    def _sharing(self, job: Job) -> list[Lane]:
        gpu_types = set(job.spec.gpu_types)
        return [lane for lane in self._lanes if lane not in self.hopeless and not gpu_types.isdisjoint(lane.gpu_types)]

    def _before(self, job: Job, lane: Lane) -> int:
        """How many jobs of a lane of its own queue are before the job; all of another queue's may be."""
        ranks = self._lanes[lane]
        return bisect_left(ranks, self.rank(job)) if lane.queue == job.spec.queue else len(ranks)

    def _claim(self, queue: str, gpu_types: tuple[str, ...]) -> Claim:
        return self.claims.get(gpu_types[0], {}).get(queue, Claim())

    @staticmethod
    def _by_queue(lanes: Iterable[Lane]) -> dict[str, list[Lane]]:
        by_queue: defaultdict[str, list[Lane]] = defaultdict(list)
        for lane in lanes:
            by_queue[lane.queue].append(lane)
        return by_queue

    @staticmethod
    def _in_turn(
        queue: str, lanes: Iterable[list[Rank]], claim: Claim, most: int | None = None
    ) -> Iterator[tuple[tuple[float, str], Rank]]:
        for earlier, entry in enumerate(islice(merge(*lanes), most)):
            yield (claim.turn(earlier), queue), entry


def lane_of(job: Job) -> Lane:
    """The lane that the job is in."""
    spec = job.spec
    longest = int(job.longest_lease.total_seconds()) if job.longest_lease else 0
    return Lane(
        spec.queue,
        spec.gpu_types,
        job.has_definition,
        spec.resources,
        spec.reuse,
        job.own_job_id,
        longest,
        spec.machines,
        spec.waits_for_operator,
    )
