"""Measures how the cost of decisions grows with the queue and the pool: `python benchmarks/scale.py`.

The scheduler's own queue, inventory and policies are filled with waiting jobs and machines; no service runs. Measured
is the processor time of this thread, so that other work on the machine counts little. Printed, for each size: putting a
job into the queue and taking it out again, finding a position, and a pass over the queue, in which one GPU is free and
all others are in use. The aim is that the first two grow no faster than the logarithm of the number of waiting jobs,
and that a pass does not grow with it.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Callable

from servicekit.clock import ManualClock
from services.scheduler.config import SchedulerSettings
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import WHOLE_GPU as WHOLE
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.spec import Lease
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.plugins import Placements, SchedulerPlugins
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from tests.services.scheduler.jobs import START, a_queued_job
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import WHOLE_GPU, Slot

GPUS_PER_MACHINE = 8
REPEATS = 5


class Bench:
    """A queue of `waiting` jobs in `queues` queues, and machines with `free` free GPUs, the first ones.

    Each job takes `resources`, each GPU is `devices` devices, and `placement` chooses among machines. With `movable`,
    the free GPUs are on as many machines as possible, and the runs may be moved.
    """

    def __init__(
        self,
        waiting: int,
        gpus: int,
        queues: int,
        policy: FairnessPolicy,
        free: int = 1,
        *,
        resources: Resources = WHOLE,
        devices: int = 1,
        placement: str = "",
        movable: bool = False,
    ) -> None:
        clock = ManualClock(START + timedelta(hours=1) * movable)
        store: Any = None  # nothing here reads or writes it
        self._resources = resources
        self.names = [f"q{number}" for number in range(queues)]
        self.waiting, self.running, self.inventory = (
            WaitingJobs(ranked_by(Age(timedelta(seconds=9)))),
            RunningJobs(),
            Inventory(),
        )
        book = QueueBook(store)
        quota = max(1, gpus // queues) * 1000
        top = QueueSettings("lab", policy=policy, placement=placement)
        shares = {"gpu": Share(quota)}
        book.queues = Queues([top, *(QueueSettings(name, parent="lab", resources=shares) for name in self.names)])
        usage = UsageBook(store, timedelta(0), clock)
        placements = Placements(book, SchedulerPlugins(SchedulerSettings()).placements) if placement else None
        self.situations = Situations(
            book, usage, self.waiting, self.running, self.inventory, clock, LONGEST_RUN, placements
        )
        machines = gpus // GPUS_PER_MACHINE
        places = [(number, gpu) for number in range(machines) for gpu in range(GPUS_PER_MACHINE)]
        places.sort(key=lambda place: place[::-1] if movable else place)
        for number in range(machines):
            free_gpus = [gpu for machine, gpu in places[:free] if machine == number]
            self.inventory.apply(_machine(f"m{number}", free_gpus, devices))
        for number, (machine, gpu) in enumerate(places[free:]):
            lease = Lease(f"l{number}", f"m{machine}", "", "", 1, START, (Slot(gpu, 0, 8),))
            job = self._in_queue(a_queued_job(number))
            job = replace(job, spec=replace(job.spec, movable=movable))
            self.running.put(job.start(lease, START, "MI300X"))
        for number in range(waiting):
            self.waiting.put(self.job(number))

    def job(self, number: int) -> Job:
        """A waiting job; later ones are behind."""
        job = a_queued_job(0)
        job = replace(job, job_id=f"job-{number:07}", create_time=START + timedelta(milliseconds=number))
        return self._in_queue(replace(job, spec=replace(job.spec, resources=self._resources)), number)

    def _in_queue(self, job: Job, number: int = 0) -> Job:
        return replace(job, spec=replace(job.spec, queue=self.names[number % len(self.names)]))

    def put_and_remove(self) -> None:
        """One job comes, in the middle of the queue, and goes."""
        job = replace(self.job(len(self.waiting) // 2), job_id="job-new")
        self.waiting.put(job)
        self.waiting.remove(job.job_id)

    def position(self) -> None:
        """The place of the job that comes last."""
        self.waiting.ahead(self.job(10_000_000))

    def a_pass(self) -> None:
        """What a pass over the queue decides."""
        self.situations.plan("MI300X")


def _machine(name: str, free: list[int], devices: int) -> vmpool_pb2.MachineEvent:
    machine = vmpool_pb2.Machine(
        machine_id=name,
        gpu_type="MI300X",
        gpu_count=GPUS_PER_MACHINE,
        state=vmpool_pb2.MACHINE_STATE_WARM,
        free_masks=[WHOLE_GPU if gpu in free else 0 for gpu in range(GPUS_PER_MACHINE)],
        inventory=inventory_pb2.Inventory(
            gpus=[inventory_pb2.Gpu(device_count=devices) for _ in range(GPUS_PER_MACHINE)]
        ),
        create_time=Timestamp(seconds=int(START.timestamp())),
    )
    return vmpool_pb2.MachineEvent(machine=machine)


def cost_ms(what: Callable[[], None], times: int) -> float:
    """The shortest processor time of one call, in milliseconds, of several rounds of `times` calls."""
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.thread_time()
        for _ in range(times):
            what()
        best = min(best, (time.thread_time() - begin) / times)
    return best * 1e3


def main() -> int:
    """Prints a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--gpus", type=int, nargs="+", default=[8, 64, 1_000])
    parser.add_argument("--queues", type=int, nargs="+", default=[1, 10])
    options = parser.parse_args()
    print(f"{'policy':<7}{'queues':>7}{'GPUs':>7}{'waiting':>9}{'put+remove ms':>15}{'position ms':>13}{'pass ms':>10}")
    for policy in FairnessPolicy:
        for queues in options.queues:
            for gpus in options.gpus:
                for waiting in options.waiting:
                    bench = Bench(waiting, gpus, queues, policy)
                    figures = cost_ms(bench.put_and_remove, 100), cost_ms(bench.position, 100), cost_ms(bench.a_pass, 1)
                    print(
                        f"{policy:<7}{queues:>7}{gpus:>7}{waiting:>9}{figures[0]:>15.4f}{figures[1]:>13.4f}{figures[2]:>10.2f}"
                    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
