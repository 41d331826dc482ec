"""Plays the load of Kueue's own scalability test through our `kueue` policy: `python benchmarks/kueue_baseline.py`.

15,000 workloads in 5 cohorts of 6 queues, each with a quota of 20 units and 500 workloads: 350 of 1 unit for 200 ms,
100 of 5 for 500 ms, 50 of 20 for 1 s. A cohort lends what it does not use. Kueue took 351 s; the ideal is 66 s, all
units busy all the time. The figures are those of Kueue's test (test/performance/scheduler, configs/baseline).

The workloads are played in virtual time, with the real plans of the policy. The product's own dispatcher gives each job
one GPU and cannot start those of 5 and 20, so it takes no part: this program describes queues, units and runs to the
policy as the scheduler does for jobs of one GPU, a lane for each size. There is one simulated machine with all 600
units, as Kueue's test has no machines at all. A plan's processor time is added to the virtual clock before what it
starts begins to run: the real time would have the waits for other work of this machine in it (`--wall` adds that one).

With `--store`, each start is also written to the scheduler's real store (SQLite, synced to disk), as are the two moves
at each end; the real time that all this takes is added to the clock too, as if nothing was written while a plan is
made. Submissions are written before the clock starts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Callable, Iterable, Mapping, Sequence

from servicekit.db.database import Database, migrate
from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.queue_tree import WHOLE_GPU_MILLI
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Candidate, Machine, Running, Situation
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.estimate import percentile
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.situations import MOST_STOPS
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.jobs import LEASE, START, a_job
from vocabulary.slots import EIGHTHS_PER_GPU

COHORTS, QUEUES_OF_A_COHORT, QUOTA, BORROWING = 5, 6, 20, 100
IDEAL_SECONDS, KUEUE_SECONDS = 66.0, 351.0
MOST_OF_IDEAL = 1.1
CLUSTER = "cluster"
WAITING_PER_POINT = timedelta(seconds=9)
"""What a point of priority is worth in waiting time, as the scheduler has it when nothing is set."""
NO_LIMIT = SubmissionLimits(1_000_000)
NOBODY_STARTS = "all units are free, and none of the workloads starts"
EVENT = bytes(100)
"""As large as the events of a start and of an end."""


class Size(NamedTuple):
    """A class of workloads in each queue."""

    name: str
    units: int
    of_each_queue: int
    seconds: float
    priority: int
    interval_seconds: float
    """Between two submissions, if they are spread as in Kueue's test."""


SIZES = (
    Size("small", 1, 350, 0.2, 50, 0.1),
    Size("medium", 5, 100, 0.5, 100, 0.5),
    Size("large", 20, 50, 1.0, 200, 1.2),
)


class Workload(NamedTuple):
    """One workload. Those of a queue go by their turn, the earlier one first."""

    name: str
    queue: str
    size: Size
    create_seconds: float

    @property
    def turn_time(self) -> datetime:
        """The time of its submission, moved forward by its priority."""
        return START + timedelta(seconds=self.create_seconds) - self.size.priority * WAITING_PER_POINT


def tree() -> Queues:
    """The cohorts and their queues."""
    cohorts = [f"cohort-{number}" for number in range(COHORTS)]
    quota = Share(QUOTA * WHOLE_GPU_MILLI, borrowing_limit=BORROWING * WHOLE_GPU_MILLI)
    leaves = [
        QueueSettings(f"{cohort}-{number}", parent=cohort, resources={"gpu": quota}, reclaim_min_runtime=timedelta(0))
        for cohort in cohorts
        for number in range(QUEUES_OF_A_COHORT)
    ]
    return Queues([*(QueueSettings(cohort, policy=FairnessPolicy.KUEUE) for cohort in cohorts), *leaves])


def workloads(queues: Queues, *, spread: bool, share: float) -> list[Workload]:
    """The same share of each class, in the order of their submission."""
    found = [
        Workload(f"{queue}-{size.name}-{number:03}", queue, size, number * size.interval_seconds if spread else 0.0)
        for queue in sorted(queues.leaves)
        if queues.by_name[queue].parent
        for size in SIZES
        for number in range(round(size.of_each_queue * share))
    ]
    return sorted(found, key=lambda one: one.create_seconds)


class Writer:
    """Writes what happens to the scheduler's store, and says how long that took; without a store, nothing."""

    def __init__(self, store: JobStore | None = None) -> None:
        self._store = store
        self._jobs: dict[str, Job] = {}

    async def submit(self, those: Iterable[Workload]) -> None:
        """Stores the workloads as waiting jobs."""
        if self._store is None:
            return
        for number, one in enumerate(those):
            job = replace(a_job(number), job_id=one.name, account_id=one.queue, idempotency_key=one.name)
            stored = (await self._store.insert(job, NO_LIMIT)).job
            if stored is not None:
                self._jobs[one.name] = await self._store.move(stored, stored.enqueue("hold"), [EVENT], START)

    async def start(self, names: Sequence[str], now: datetime) -> float:
        """The seconds that it takes to store these starts, which go at once as the dispatcher's do."""
        return await self._written(
            names, lambda job: job.start(replace(LEASE, lease_id=job.job_id), now, "MI300X"), now
        )

    async def end(self, names: Sequence[str], now: datetime) -> float:
        """The seconds that it takes to store how these end, and then that they are over."""
        outcome = Outcome(JobState.FINISHED, "ACCEPTED", "", b"", 1)
        seconds = await self._written(names, lambda job: job.settle(outcome), now)
        return seconds + await self._written(names, lambda job: job.finish(1, now), now)

    async def _written(self, names: Sequence[str], move: Callable[[Job], Job], now: datetime) -> float:
        if self._store is None:
            return 0.0
        begin = time.perf_counter()
        before = [self._jobs[name] for name in names]
        after = await asyncio.gather(*(self._store.move(job, move(job), [EVENT], now) for job in before))
        self._jobs.update(zip(names, after, strict=True))
        return time.perf_counter() - begin


@dataclass
class Result:
    """What a replay found."""

    makespan_seconds: float
    plan_ms: list[float]
    stored_seconds: float
    stopped: int
    mean_waits: Mapping[str, float]


class Replay:
    """One run of the load in virtual time; `clock` says how long a plan took."""

    def __init__(self, queues: Queues, those: Sequence[Workload], writer: Writer, clock: Callable[[], float]) -> None:
        self._queues = queues
        self._arriving = deque(those)
        self._writer = writer
        self._clock = clock
        self._by_name = {one.name: one for one in those}
        self._lanes: dict[tuple[str, int], deque[Workload]] = {}
        self._running: dict[str, Running] = {}
        self._ends: list[tuple[float, str, int]] = []
        self._starts: dict[str, int] = {}
        """How often each workload was started."""
        self._promises: Mapping[str, str] = {}
        self._waits: dict[str, list[float]] = {size.name: [] for size in SIZES}
        self._plan_ms: list[float] = []
        self._stopped = 0
        self._now = self._stored = 0.0
        self._units = COHORTS * QUEUES_OF_A_COHORT * QUOTA

    async def run(self) -> Result:
        """Plays until all workloads are over. Raises RuntimeError if some would wait for ever."""
        while True:
            self._arrive()
            await self._end()
            if not (self._arriving or self._running or any(self._lanes.values())):
                break
            if not await self._pass():
                times = self._next_times()
                if not times:
                    raise RuntimeError(NOBODY_STARTS)
                self._now = max(self._now, min(times))
        waits = {name: sum(waits) / max(1, len(waits)) for name, waits in self._waits.items()}
        return Result(self._now, self._plan_ms, self._stored, self._stopped, waits)

    def _next_times(self) -> list[float]:
        arriving = [self._arriving[0].create_seconds] if self._arriving else []
        return [*arriving, *(end for end, _, _ in self._ends[:1])]

    def _arrive(self) -> None:
        while self._arriving and self._arriving[0].create_seconds <= self._now:
            one = self._arriving.popleft()
            self._lanes.setdefault((one.queue, one.size.units), deque()).append(one)

    async def _end(self) -> None:
        over: list[str] = []
        while self._ends and self._ends[0][0] <= self._now:
            _, name, start = heappop(self._ends)
            # One that was stopped in between ends by its next start.
            if name in self._running and self._starts[name] == start:
                del self._running[name]
                over.append(name)
        self._add_stored(await self._writer.end(over, self._time()))

    async def _pass(self) -> bool:
        """One plan, carried out; True if there is more to decide at once, as something was stopped."""
        situation = self._situation()
        begin = self._clock()
        decided = plan(situation)
        seconds = self._clock() - begin
        self._plan_ms.append(1e3 * seconds)
        self._now += seconds
        self._add_stored(await self._writer.start(list(decided.starts), self._time()))
        for name in decided.starts:
            self._start(self._by_name[name])
        for stop in decided.stops:
            one = self._by_name[stop.job_id]
            del self._running[stop.job_id]
            self._lanes[one.queue, one.size.units].appendleft(one)
        self._stopped += len(decided.stops)
        self._promises = decided.promises
        return bool(decided.stops)

    def _start(self, one: Workload) -> None:
        self._lanes[one.queue, one.size.units].remove(one)
        self._running[one.name] = Running(one.name, one.queue, CLUSTER, self._time(), one.size.units * EIGHTHS_PER_GPU)
        number = self._starts[one.name] = self._starts.get(one.name, 0) + 1
        if number == 1:
            self._waits[one.size.name].append(self._now - one.create_seconds)
        heappush(self._ends, (self._now + one.size.seconds, one.name, number))

    def _situation(self) -> Situation:
        """As many of each lane as its queue could start now, and some that could have others stopped."""
        free = self._units - sum(one.eighths for one in self._running.values()) // EIGHTHS_PER_GPU
        first = [
            one
            for (_, units), lane in self._lanes.items()
            for one in islice(lane, min(free, QUOTA + BORROWING) // units + MOST_STOPS)
        ]
        first.sort(key=lambda one: (one.turn_time, one.name))
        waiting = [
            Candidate(
                one.name,
                one.queue,
                one.turn_time,
                one.size.units * EIGHTHS_PER_GPU,
                promised=self._promises.get(one.name, ""),
            )
            for one in first
        ]
        machines = [Machine(CLUSTER, self._units)]
        return Situation("MI300X", self._queues, self._time(), machines, list(self._running.values()), waiting)

    def _add_stored(self, seconds: float) -> None:
        self._now += seconds
        self._stored += seconds

    def _time(self) -> datetime:
        return START + timedelta(seconds=self._now)


async def played(those: Sequence[Workload], queues: Queues, clock: Callable[[], float], *, stores: bool) -> Result:
    """Plays the load, with a store in a folder of its own if it is to be written."""
    if not stores:
        return await Replay(queues, those, Writer(), clock).run()
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{Path(folder) / 'scheduler.db'}")
        try:
            await migrate(database, MIGRATIONS)
            writer = Writer(JobStore(database, lambda _: None))
            await writer.submit(those)
            return await Replay(queues, those, writer, clock).run()
        finally:
            await database.close()


def main() -> int:
    """Prints a row for each way in which the workloads arrive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="play this share of each class only (default 1)")
    parser.add_argument("--spread", action="store_true", help="also with submissions spread over a minute, for minutes")
    parser.add_argument("--store", action="store_true", help="also write starts and ends to the scheduler's store")
    parser.add_argument("--wall", action="store_true", help="add the real time of plans, not their processor time")
    chosen = parser.parse_args()
    queues, clock = tree(), time.perf_counter if chosen.wall else time.thread_time
    kind = "real" if chosen.wall else "processor"
    print(f"virtual time, with the {kind} time of plans{' and that of the store' if chosen.store else ''}")
    print(f"ideal {IDEAL_SECONDS:.0f} s, Kueue {KUEUE_SECONDS:.0f} s; load {os.getloadavg()[0]:.1f}")
    columns = f"{'makespan s':>12}{'of ideal':>10}{'per s':>8}{'plans':>7}{'p10 ms':>8}{'p50 ms':>8}{'p99 ms':>8}"
    print(f"{'arrivals':<10}{columns}{'stored s':>10}{'stopped':>9}  mean waits")
    for spread in (False, True) if chosen.spread else (False,):
        those = workloads(queues, spread=spread, share=chosen.share)
        result = asyncio.run(played(those, queues, clock, stores=chosen.store))
        ideal = IDEAL_SECONDS * chosen.share
        p10, p50, p99 = (percentile(result.plan_ms, percent) for percent in (10, 50, 99))
        waits = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in result.mean_waits.items())
        word = "met" if result.makespan_seconds <= MOST_OF_IDEAL * ideal else "missed"
        print(
            f"{'spread' if spread else 'together':<10}{result.makespan_seconds:>12.1f}"
            f"{result.makespan_seconds / ideal:>10.2f}{len(those) / result.makespan_seconds:>8.0f}"
            f"{len(result.plan_ms):>7}{p10:>8.1f}{p50:>8.1f}{p99:>8.1f}{result.stored_seconds:>10.1f}"
            f"{result.stopped:>9}  {waits} ({word})",
            flush=True,
        )
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
