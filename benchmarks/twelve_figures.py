"""Measures the twelve figures of the scheduler's design beside their targets: `python benchmarks/twelve_figures.py`.

64 GPUs of 8 machines, 10,000 waiting jobs in 100 queues, 100,000 attempts of the last seven days in a SQLite database.
Each figure is the product's own code, which the table names. Jobs take whole GPUs, but for the memory, where each takes
one of the 512 partitions.

A figure has two rows. `decision` is one question or change, `batch` what a pass or a report does at once. Times are
processor time of this process, all threads, so that other work on the machine counts little; `wall` is the median of
the real time, which has waits for the disk too. A target is met if the 99th percentile of the processor time is below
it. Memory is the peak of what one call allocates besides what was there (tracemalloc); at the end, the largest size of
the whole process.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import sys
import tempfile
import time
import tracemalloc
from dataclasses import dataclass, replace
from datetime import timedelta
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

from wavepool.scheduler.v1 import metrics_pb2, scheduler_pb2

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Callable
from datetime import datetime

from benchmarks import job_metrics
from benchmarks.scale import GPUS_PER_MACHINE, Bench
from servicekit.clock import ManualClock, new_id
from servicekit.db.database import Database, migrate
from services.billing.alert_rules.platform import platform_rules
from services.billing.alert_rules.rule import Reading
from services.billing.alerts.evaluator import Evaluator
from services.billing.store.alert_store import AlertStore
from services.scheduler.fairness.settings import FairnessPolicy
from services.scheduler.jobs.ended_attempt import ended_attempt
from services.scheduler.jobs.estimate import percentile
from services.scheduler.jobs.job_figures import Grouping
from services.scheduler.jobs.problem_runs import slowdowns
from services.scheduler.jobs.queue_state import queue_readings
from services.scheduler.jobs.resources import Isolation, Resources, resources_of
from services.scheduler.jobs.run_history import kind_of
from services.scheduler.monitoring.queue_monitor import QueueMonitor
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.forecast import Forecast
from services.scheduler.runs.dispatcher import ASKED_FOR_AT_ONCE
from services.scheduler.service.metrics_service import MetricsServicer
from services.scheduler.store.attempt_reader import AttemptReader
from services.vmpool.machines.machine import MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.offer_choice import Market, OfferPolicy
from services.vmpool.policy.packing import Demand
from services.vmpool.policy.retention import Retention
from services.vmpool.policy.sizing import Limits, Plan, Pool, machines_wanted, pool_needs
from tests.services.scheduler.timed_jobs import timed_job
from tests.services.vmpool.conftest import START, a_machine
from vocabulary.readings import STUCK_JOBS
from vocabulary.slots import EIGHTHS_PER_GPU

GPUS, WAITING, QUEUES, ATTEMPTS = 64, 10_000, 100, 100_000
PARTITIONS = 512
BATCH_OF_ESTIMATES = 10
LEAST_CALLS = 20
VALID_FOR, REPORT_INTERVAL = timedelta(minutes=1), timedelta(seconds=15)
RETENTION = timedelta(days=90)
BILLING_MIGRATIONS = "services.billing:migrations"


class Work(NamedTuple):
    """What one call does, in words and as a function that may be a coroutine's."""

    what: str
    call: Callable[[], Any]


@dataclass(frozen=True)
class Figure:
    """One of the twelve."""

    name: str
    aim_ms: float
    decision: Work
    batch: Work


class Times(NamedTuple):
    """Milliseconds of one call, and the peak of its memory in KiB."""

    calls: int
    p10_ms: float
    p50_ms: float
    p99_ms: float
    wall_p50_ms: float
    peak_kib: float


async def measured(work: Work, seconds: float) -> Times:
    """Calls for about so long, at least LEAST_CALLS times, after one call that fills caches."""
    await _called(work)
    gc.collect()
    own: list[float] = []
    wall: list[float] = []
    end = time.perf_counter() + seconds
    while len(own) < LEAST_CALLS or time.perf_counter() < end:
        begin, begin_own = time.perf_counter(), time.process_time()
        await _called(work)
        own.append(1e3 * (time.process_time() - begin_own))
        wall.append(1e3 * (time.perf_counter() - begin))
    tracemalloc.start()
    try:
        await _called(work)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    p10, p50, p99 = (percentile(own, percent) for percent in (10, 50, 99))
    return Times(len(own), p10, p50, p99, percentile(wall, 50), peak / 1024)


async def _called(work: Work) -> None:
    answer = work.call()
    if isawaitable(answer):
        await answer


class Product:
    """The parts of the product that are measured, filled to the size of the design."""

    def __init__(self, scheduler: Database, billing: Database, policy: FairnessPolicy) -> None:
        self._bench = Bench(WAITING, GPUS, QUEUES, policy)
        self._empty = Bench(WAITING, GPUS, QUEUES, policy, free=GPUS).situations
        self._balanced = Bench(1, GPUS, QUEUES, policy, free=GPUS, placement="spread").situations
        self._spread = Bench(WAITING, GPUS, QUEUES, policy, free=GPUS, placement="spread").situations
        eighth = Resources(1, Isolation.PARTITION)
        self._parts = Bench(PARTITIONS, GPUS, QUEUES, policy, free=GPUS, resources=eighth, devices=8).situations
        four = Resources(4 * EIGHTHS_PER_GPU)
        # Each machine has a free GPU.
        free = GPUS // GPUS_PER_MACHINE
        self._fragmented = Bench(1, GPUS, 1, policy, free=free, resources=four, movable=True).situations
        self._crowded = Bench(100, GPUS, QUEUES, policy, free=free, resources=four, movable=True).situations
        clock = ManualClock(job_metrics.NOW)
        self._now = clock.now()
        self._since = self._now - job_metrics.DAYS * job_metrics.DAY
        self._reader = AttemptReader(scheduler)
        pool: Any = None  # no demand is reported
        self._monitor = QueueMonitor(
            self._bench.waiting,
            self._bench.inventory,
            DemandReporter(pool, self._bench.waiting, self._bench.inventory),
            self._bench.running,
            self._bench.situations.dated,
            self._reader,
            clock,
            job_metrics.WINDOW,
        )
        self._service = MetricsServicer(self._reader, self._monitor, clock, RETENTION)
        self._forecast = Forecast(self._bench.waiting, self._bench.running, self._bench.inventory, clock)
        self._over = timed_job(1, {"4096": 1e6})
        self._kind = kind_of(self._over)
        self._forecast.remember((self._kind, timedelta(seconds=2 + number % 7)) for number in range(100))
        self._last = [
            replace(self._bench.job(WAITING + number), job_id=f"last-{number}") for number in range(BATCH_OF_ESTIMATES)
        ]
        self._evaluator = Evaluator(AlertStore(billing, new_id), platform_rules(), {}, new_id, [])
        self._readings = self._prepare_readings()
        self._stuck = next(one for one in self._readings if one.name == STUCK_JOBS)
        self._reports = 0

    def figures(self) -> list[Figure]:
        """The twelve, in the order of the design."""
        attempts = f"{ATTEMPTS:,} attempts"
        return [
            Figure(
                "priority scheduling",
                10,
                Work("a job is put into the queue and taken out", self._bench.put_and_remove),
                Work(f"the first {ASKED_FOR_AT_ONCE} jobs of all queues, in turn", self._first_jobs),
            ),
            Figure(
                "resource allocation",
                50,
                Work("a pass over all queues with one free GPU", self._bench.a_pass),
                Work(f"a pass that gives {GPUS} free GPUs", lambda: self._empty.plan("MI300X")),
            ),
            Figure(
                "load balancing",
                100,
                Work("a job goes to the emptiest machine", lambda: self._balanced.plan("MI300X")),
                Work(f"{GPUS} jobs are spread over all machines", lambda: self._spread.plan("MI300X")),
            ),
            Figure(
                "dynamic allocation",
                5,
                Work("the pool is sized, one job waits", lambda: self._sized(1)),
                Work(f"the pool is sized, {WAITING:,} jobs wait", lambda: self._sized(WAITING)),
            ),
            Figure(
                "memory optimisation",
                20,
                Work("the smallest part with so much memory", self._smallest_part),
                Work(f"{PARTITIONS} partitions are given to as many jobs", self._give_partitions),
            ),
            Figure(
                "performance scheduling",
                30,
                Work("a job's wait from the times of such runs", lambda: self._forecast.standing(self._last[0])),
                Work(f"the waits of {BATCH_OF_ESTIMATES} jobs", self._waits),
            ),
            Figure(
                "rebalancing",
                200,
                Work("runs move so that a job of 4 GPUs fits", lambda: self._fragmented.plan("MI300X")),
                Work("the same, with 100 such jobs waiting", lambda: self._crowded.plan("MI300X")),
            ),
            Figure(
                "realtime metrics",
                1,
                Work("what waits and runs in each queue", self._monitor.states),
                Work("the same as the answer of the RPC", self._current_metrics),
            ),
            Figure(
                "performance tracking",
                5,
                Work("an attempt ends: its figures, its run time noted", self._attempt_ends),
                Work("runs of this quarter hour beside seven days", self._slowdowns),
            ),
            Figure(
                "efficiency analytics",
                100,
                Work("useful and paid time of an account, by problem", self._account),
                Work(f"of {attempts}, by queue", lambda: self._figures(Grouping.QUEUE)),
            ),
            Figure(
                "alerting",
                10,
                Work("a reading begins or ends an alert", self._one_reading),
                Work(f"all readings of {QUEUES} queues, of which 10 have alerts", self._all_readings),
            ),
            Figure(
                "metrics aggregation",
                50,
                Work("what ended in this quarter hour, by queue", self._ended),
                Work(f"{attempts}, all together", lambda: self._figures(Grouping.ALL)),
            ),
        ]

    def _smallest_part(self) -> None:
        resources_of(scheduler_pb2.Resources(memory_mib=40_000), ["MI300X"])

    def _give_partitions(self) -> None:
        self._parts.placements(self._parts.plan("MI300X"))

    def _first_jobs(self) -> None:
        self._bench.waiting.in_turn(ASKED_FOR_AT_ONCE)

    def _sized(self, jobs: int) -> Plan:
        busy = {"gpu_count": GPUS_PER_MACHINE, "state": MachineState.BUSY, "occupied": (255,) * GPUS_PER_MACHINE}
        pool = Pool([a_machine(machine_id=f"m{number}", **busy) for number in range(GPUS // GPUS_PER_MACHINE)])
        limits = Limits(
            2 * GPUS // GPUS_PER_MACHINE,
            Retention(timedelta(minutes=10)),
            OfferPolicy(gpu_count=GPUS_PER_MACHINE),
        )
        market = Market([Offer("scripted", "MI300X", GPUS_PER_MACHINE, 16_000_000)])
        needs = pool_needs([Demand("MI300X", 8, jobs)], pool, limits, START)
        return machines_wanted(needs, pool, market, Funds(), limits, START)

    def _waits(self) -> None:
        for job in self._last:
            self._forecast.standing(job)

    async def _current_metrics(self) -> None:
        answer = await self._service.GetCurrentMetrics(metrics_pb2.GetCurrentMetricsRequest(), None)
        answer.SerializeToString()

    def _attempt_ends(self) -> None:
        before = replace(self._over, end_time=None)
        ended_attempt(before, self._over, self._now)
        self._forecast.remember([(self._kind, timedelta(seconds=3))])

    async def _slowdowns(self) -> None:
        week, window = job_metrics.DAYS * job_metrics.DAY, job_metrics.WINDOW
        slowdowns(await self._reader.runs_by_problem(self._now - week, self._now - window))

    async def _account(self) -> None:
        await self._reader.figures(Grouping.PROBLEM, ["acc_1"], self._since, self._now)

    async def _figures(self, grouping: Grouping) -> None:
        await self._reader.figures(grouping, [], self._since, self._now)

    async def _ended(self) -> None:
        await self._reader.end_counts(self._now - job_metrics.WINDOW)

    async def _one_reading(self) -> None:
        self._reports += 1
        reading = replace(self._stuck, value=float(self._reports % 2), time=self._report_time())
        await self._evaluator.take_some("one", [reading], VALID_FOR)

    async def _all_readings(self) -> None:
        self._reports += 1
        now = self._report_time()
        readings = [Reading(one.name, one.value, now, one.labels, one.details) for one in self._readings]
        await self._evaluator.take_all("all", readings, VALID_FOR, now)

    def _report_time(self) -> datetime:
        return self._now + self._reports * REPORT_INTERVAL

    def _prepare_readings(self) -> list[Reading]:
        """What the scheduler reports of its queues, with stuck jobs in each tenth queue."""
        readings = [
            Reading(one.name, one.value, self._now, one.labels, one.details)
            for one in queue_readings(self._monitor.states(), {})
        ]
        stuck = {at for at, one in enumerate(readings) if one.name == STUCK_JOBS}
        changed = sorted(stuck)[::10]
        return [replace(one, value=1.0) if at in changed else one for at, one in enumerate(readings)]


async def all_measured(policy: FairnessPolicy, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """A row for each figure's decision and batch, printed as soon as it is measured."""
    databases = [Database(f"sqlite+aiosqlite:///{folder / name}.db") for name in ("scheduler", "billing")]
    scheduler, billing = databases
    found: list[dict[str, Any]] = []
    try:
        await job_metrics.fill(scheduler, ATTEMPTS, QUEUES)
        await migrate(billing, BILLING_MIGRATIONS)
        for figure in Product(scheduler, billing, policy).figures():
            for kind, work in (("decision", figure.decision), ("batch", figure.batch)):
                times = await measured(work, seconds)
                row = {"figure": figure.name, "aim_ms": figure.aim_ms, "kind": kind, "what": work.what}
                found.append(row | times._asdict())
                show(found[-1])
    finally:
        for database in databases:
            await database.close()
    return found


def show(row: dict[str, Any]) -> None:
    """Prints a row."""
    numbers = "".join(f"{row[name]:>10.3f}" for name in ("p10_ms", "p50_ms", "p99_ms", "wall_p50_ms"))
    word = "met" if row["p99_ms"] < row["aim_ms"] else "missed"
    start = f"{row['figure']:<23}{row['kind']:<10}{numbers}{row['peak_kib']:>10,.0f}"
    print(f"{start}{row['aim_ms']:>8g}  {word:<8}{row['what']}", flush=True)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=FairnessPolicy, choices=list(FairnessPolicy), default=FairnessPolicy.KAI)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each row is measured (default 2)")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    chosen = parser.parse_args()
    before = os.getloadavg()
    print(f"policy {chosen.policy}; load {before[0]:.1f}; milliseconds, KiB")
    columns = f"{'p10':>10}{'p50':>10}{'p99':>10}{'wall':>10}{'memory':>10}{'target':>8}"
    print(f"{'figure':<23}{'':<10}{columns}")
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(all_measured(chosen.policy, chosen.seconds, Path(folder)))
    largest_mib, after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, os.getloadavg()
    print(f"largest size of the process {largest_mib:,.0f} MiB; load at the end {after[0]:.1f}")
    if chosen.json:
        load = {"load_before": before[0], "load_after": after[0], "largest_mib": largest_mib}
        chosen.json.write_text(json.dumps({"policy": chosen.policy, **load, "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
