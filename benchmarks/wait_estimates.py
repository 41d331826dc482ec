"""Measures how true the waits are that jobs are told: `python benchmarks/wait_estimates.py`.

A day of submissions is simulated, in virtual time, with the scheduler's own queue, inventory and forecast: users come
in sittings and submit checks and benchmarks of several problems, whose runs take from seconds to minutes. The estimate
that a job gets at its submission is compared with the wait that it then has. Printed are the shares of jobs that
started within their p50 and their p90, of those that waited at all; the aim for the p90 is 0.85 to 0.95. Jobs that find
a free GPU are told no wait and have none, so they would flatter the figures.

`--reservations` plays days of people who reserve GPUs on two machines of 8 instead, beside kernel jobs, also with the
scheduler's fairness, its calendar and what it learns; benchmarks/reservation_replay/arrivals.py says where these days
are from. The first two days of each seed are for learning, and are not counted. Who waited, or was to wait, counts; who
gave up waiting counts if that was after the p50 or p90. The estimate was made with the seeds 1 to 3, and 21 to 24.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, RUN_MODE_FULL, Submission
from wavepool.vmpool.v1 import vmpool_pb2

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Sequence

from benchmarks.reservation_replay.arrivals import DAY, Habits
from benchmarks.reservation_replay.replay import P50, P90, Replay, Wait, share_within
from servicekit.clock import ManualClock
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.run_history import kind_of
from services.scheduler.jobs.spec import JobSpec, Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.waiting import WaitingJobs
from vocabulary.slots import WHOLE_GPU, Slot

START = datetime(2026, 1, 1, tzinfo=UTC)
AIM = 0.85, 0.95
LEARNING_DAYS = 2
TYPICAL_SECONDS = {RUN_MODE_CHECK: (2.0, 12.0), RUN_MODE_FULL: (20.0, 180.0)}
"""The range of a problem's median run time in each mode; a run is lognormal around it, with a sigma of 0.3."""


class Day:
    """One simulated day on `gpus` GPUs."""

    def __init__(self, gpus: int, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - a simulation
        self.clock = ManualClock(START)
        self.waiting, self.inventory = WaitingJobs(ranked_by(Age(timedelta(seconds=1)))), Inventory()
        self.running = RunningJobs()
        self.forecast = Forecast(self.waiting, self.running, self.inventory, self.clock)
        self.gpus, self.free = gpus, list(range(gpus))
        self.told: dict[str, tuple[float, float]] = {}
        self.waits: list[tuple[float, float, float]] = []
        self.medians = {
            (problem, mode): self.chance.uniform(*limits)
            for problem in range(8)
            for mode, limits in TYPICAL_SECONDS.items()
        }
        self._show_machine()

    def run(self, sittings: int) -> None:
        """Plays all submissions and runs in the order of their times."""
        events = [(at, 0, number, job) for number, (at, job) in enumerate(self._submissions(sittings))]
        heapq.heapify(events)
        number = len(events)
        while events:
            at, is_end, _, job = heapq.heappop(events)
            self.clock.advance(START + timedelta(seconds=at) - self.clock.now())
            if is_end:
                self._end(job)
            else:
                self._submit(job)
            for started, seconds in self._start_all():
                number += 1
                heapq.heappush(events, (at + seconds, 1, number, started))

    def _submissions(self, sittings: int) -> list[tuple[float, Job]]:
        found: list[tuple[float, Job]] = []
        for _ in range(sittings):
            at, problem = self.chance.uniform(0, 86_400), self.chance.randrange(8)
            for _ in range(self.chance.randint(3, 20)):
                at += self.chance.expovariate(1 / 30)
                mode = self.chance.choice((RUN_MODE_CHECK, RUN_MODE_CHECK, RUN_MODE_FULL))
                found.append((at, self._job(len(found), at, problem, mode)))
        return found

    def _job(self, number: int, at: float, problem: int, mode: int) -> Job:
        spec = JobSpec(Submission(problem=f"p{problem}", mode=mode), "MI300X")  # pyright: ignore[reportArgumentType] - a mode
        return Job(
            job_id=f"job-{number:06d}",
            account_id="account",
            idempotency_key=f"{number}",
            fingerprint="",
            spec=spec,
            state=JobState.RESERVING,
            create_time=START + timedelta(seconds=at),
            price_micros_per_hour=1,
            hold_micros=1,
        ).enqueue("hold")

    def _submit(self, job: Job) -> None:
        wait = self.forecast.standing(job).wait
        if wait is not None:
            self.told[job.job_id] = wait.p50.total_seconds(), wait.p90.total_seconds()
        self.waiting.put(job)

    def _start_all(self) -> list[tuple[Job, float]]:
        started: list[tuple[Job, float]] = []
        for job in self.waiting.in_turn(len(self.free)):
            now = self.clock.now()
            lease = Lease(job.job_id, "m", "", "", 1, now, (Slot(self.free.pop(0), 0, 8),))
            running = job.start(lease, now, "MI300X")
            self.waiting.remove(job.job_id)
            self.running.put(running)
            self.forecast.starts(running)
            waited = (now - job.create_time).total_seconds()
            if job.job_id in self.told and (waited > 0 or self.told[job.job_id][1] > 0):
                self.waits.append((waited, *self.told[job.job_id]))
            submission = job.spec.submission
            median = self.medians[int(submission.problem[1:]), submission.mode]
            started.append((running, median * self.chance.lognormvariate(0, 0.3)))
        self._show_machine()
        return started

    def _end(self, job: Job) -> None:
        self.running.remove(job.job_id)
        if job.start_time:
            self.forecast.remember([(kind_of(job), self.clock.now() - job.start_time)])
        if job.lease:
            self.free.append(job.lease.slots[0].gpu)
        self._show_machine()

    def _show_machine(self) -> None:
        machine = vmpool_pb2.Machine(
            machine_id="m",
            gpu_type="MI300X",
            gpu_count=self.gpus,
            state=vmpool_pb2.MACHINE_STATE_WARM,
            free_masks=[WHOLE_GPU if gpu in self.free else 0 for gpu in range(self.gpus)],
            create_time=Timestamp(seconds=int(START.timestamp())),
        )
        self.inventory.apply(vmpool_pb2.MachineEvent(machine=machine))


def print_reservations(seeds: Sequence[int], days: int, visits: float) -> None:
    """Prints a row for each seed, for all of them, and for each size."""
    habits = Habits(visits=visits)
    columns = f"{'in use':>8}{'waited':>8}{'within p50':>12}{'within p90':>12}{'mean wait':>11}{'mean p50':>10}"
    print(f"{'':<9}{columns}{'aim':>8}")
    waits: list[Wait] = []
    for seed in seeds:
        replay = Replay(seed, LEARNING_DAYS + days, habits)
        found = [one for one in replay.run() if one.at >= LEARNING_DAYS * DAY]
        in_use = replay.gpu_seconds / (replay.gpus * (LEARNING_DAYS + days) * DAY)
        print_waits(f"seed {seed}", found, f"{in_use:.0%}")
        waits += found
    print_waits("all", waits)
    for gpus in (1, 2, 4, 8):
        print_waits(f"{gpus} GPUs", [one for one in waits if one.gpus == gpus])


def print_waits(name: str, waits: Sequence[Wait], in_use: str = "") -> None:
    """Prints a row."""
    counted = [one for one in waits if one.counts]
    p50, p90 = share_within(waits, P50), share_within(waits, P90)
    means = (fmean([getattr(one, what) / 3600 for one in counted] or [0.0]) for what in ("waited", "p50"))
    waited, told = (f"{hours:.1f} h" for hours in means)
    word = "met" if AIM[0] <= p90 <= AIM[1] else "missed"
    print(f"{name:<9}{in_use:>8}{len(counted):>8}{p50:>12.2f}{p90:>12.2f}{waited:>11}{told:>10}{word:>8}", flush=True)


def main() -> int:
    """Prints the shares for several loads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=5, help="simulated days for each load (default 5)")
    parser.add_argument("--reservations", action="store_true", help="play reservations, not jobs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[31, 32, 33, 34, 35, 36], help="of reservations")
    parser.add_argument("--visits", type=float, default=Habits.visits, help="reservations a day, in the mean")
    chosen = parser.parse_args()
    if chosen.reservations:
        print_reservations(chosen.seeds, chosen.days, chosen.visits)
        return 0
    columns = f"{'jobs that waited':>18}{'within p50':>12}{'within p90':>12}{'mean wait':>11}{'aim':>8}"
    print(f"{'GPUs':>5}{'sittings':>10}{columns}")
    for gpus, sittings in ((1, 40), (1, 90), (2, 150), (4, 300), (8, 600)):
        waits: list[tuple[float, float, float]] = []
        for seed in range(chosen.days):
            day = Day(gpus, seed)
            day.run(sittings)
            waits += day.waits
        p50, p90 = (sum(one[0] <= one[at] + 1e-3 for one in waits) / len(waits) for at in (1, 2))
        mean = sum(one[0] for one in waits) / len(waits)
        word = "met" if AIM[0] <= p90 <= AIM[1] else "missed"
        print(f"{gpus:>5}{sittings:>10}{len(waits):>18}{p50:>12.2f}{p90:>12.2f}{mean:>9.0f} s{word:>8}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
