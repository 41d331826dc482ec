"""Describes the queue, the machines and the runs as the policies of fairness see them, one GPU type at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from services.scheduler.fairness.queue_tree import WHOLE_GPU_MILLI
from services.scheduler.fairness.situation import Candidate, Machine, Running, Situation
from services.scheduler.queue.placement import WHOLE_GPU_EIGHTHS, MachineStage, machine_with_torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from servicekit.clock import Clock
    from services.scheduler.jobs.job import Job
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.placement import MachineOffer
    from services.scheduler.queue.plugins import Placements
    from services.scheduler.queue.queue_book import QueueBook
    from services.scheduler.queue.running import RunningJobs
    from services.scheduler.queue.usage_book import UsageBook
    from services.scheduler.queue.waiting import WaitingJobs

MOST_STOPS = 2
"""So many jobs of a lane can have others stopped in one pass; those behind them can in the next."""
MOST_PREEMPTIONS = 3
"""A job that was excused this often keeps its GPU: two queues that take it from each other would never end."""


class Situations:
    """Makes the situations of a pass. Without `placements`, the fullest machine is taken."""

    def __init__(
        self,
        book: QueueBook,
        usage: UsageBook,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        clock: Clock,
        placements: Placements | None = None,
    ) -> None:
        self._book = book
        self._usage = usage
        self._waiting = waiting
        self._running = running
        self._inventory = inventory
        self._clock = clock
        self._placements = placements
        self.promises: dict[str, str] = {}
        """Machines on which others give way, by the job that gets them."""

    def wanted_types(self) -> list[str]:
        """The GPU types that some waiting job would rather have than any other."""
        return sorted({lane.gpu_types[0] for lane in self._waiting.lanes()})

    def fallback_types(self) -> list[str]:
        """The GPU types that will do for some waiting job."""
        return sorted({gpu_type for lane in self._waiting.lanes() for gpu_type in lane.gpu_types[1:]})

    def of(self, gpu_type: str, *, fallback: bool = False) -> Situation:
        """The situation of a GPU type: of the jobs that want it, or with `fallback` of those that it will do for.

        It has only as many jobs of each lane as can start or have others stopped in one pass.
        """
        offers = [offer for offer in self._inventory.offers() if offer.gpu_type == gpu_type]
        running = [job for job in self._running.jobs() if job.machine_gpu_type == gpu_type]
        ours = Counter(job.machine_id for job in running)
        machines = [Machine(offer.machine_id, self._room(offer, ours)) for offer in _preferred_first(offers)]
        free = sum(machine.gpus for machine in machines) - len(running)
        most = max(0, free) + MOST_STOPS
        lanes = {
            lane: waiting
            for lane, waiting in self._waiting.lanes().items()
            if (gpu_type in lane.gpu_types[1:] if fallback else lane.gpu_types[0] == gpu_type)
        }
        further: Counter[str] = Counter()
        for lane, waiting in lanes.items():
            further[self._book.queues.known(lane.queue)] += max(0, waiting - most)
        jobs = sorted((job for lane in lanes for job in self._waiting.first(lane, most)), key=self._waiting.rank)
        with_torch = frozenset(
            offer.machine_id for offer in offers if offer.has_torch and offer.stage is MachineStage.READY
        )
        situation = Situation(
            gpu_type,
            self._book.queues,
            self._clock.now(),
            machines,
            [self._holder(job) for job in running],
            [self._candidate(job, gpu_type, with_torch) for job in jobs],
            further_gpus=further,
            may_stop=not fallback,
        )
        return situation if fallback else replace(situation, usage_ppm=self._usage.used_ppm(situation))

    def keep_promises(self, promises: Mapping[str, str]) -> None:
        """Keeps those of a plan for which others give way, until their jobs start."""
        winners = self._running.winners()
        kept = {job: machine for job, machine in promises.items() if job in winners or job in self.promises}
        waiting = {job: machine for job, machine in self.promises.items() if job in self._waiting and job in winners}
        self.promises = waiting | kept

    def askable(self, jobs: Sequence[Job]) -> list[Job]:
        """Those for which any machine will do, and that break no limit of their queues with a GPU more."""
        offers = self._inventory.offers()
        used = {gpu_type: self.used(gpu_type) for gpu_type in {job.spec.gpu_type for job in jobs}}
        return [
            job
            for job in jobs
            if machine_with_torch(job, offers) is None and self._full_queue(job, used[job.spec.gpu_type]) is None
        ]

    def full_queue(self, job: Job) -> tuple[str, int] | None:
        """The job's queue, or the nearest above, that may not have a GPU more of the wanted type, with its limit.

        The limit is in thousandths of a GPU. None if there is no such queue.
        """
        return self._full_queue(job, self.used(job.spec.gpu_type))

    def used(self, gpu_type: str) -> Mapping[str, int]:
        """What each queue and all below it use now of a GPU type, in thousandths of a GPU."""
        running = (job for job in self._running.jobs() if job.machine_gpu_type == gpu_type)
        return self._book.queues.with_below((job.spec.queue, WHOLE_GPU_MILLI) for job in running)

    def _full_queue(self, job: Job, used: Mapping[str, int]) -> tuple[str, int] | None:
        queues = self._book.queues
        for queue in queues.upwards(queues.known(job.spec.queue)):
            limit = queues.share(queue.name, job.spec.gpu_type).limit
            if limit is not None and used.get(queue.name, 0) + WHOLE_GPU_MILLI > limit:
                return queue.name, limit
        return None

    def _room(self, offer: MachineOffer, ours: Mapping[str, int]) -> int:
        """The machine's GPUs without those that others have; if it takes no new leases, those that we have."""
        own = ours.get(offer.machine_id, 0)
        if offer.stage is not MachineStage.READY:
            return own
        gpus = self._inventory.gpus(offer.machine_id)
        others = max(0, gpus * WHOLE_GPU_EIGHTHS - offer.free_eighths - own * WHOLE_GPU_EIGHTHS)
        return max(own, gpus - -(-others // WHOLE_GPU_EIGHTHS))

    def _holder(self, job: Job) -> Running:
        winner = self._running.winner(job.job_id)
        return Running(
            job.job_id,
            job.spec.queue,
            job.machine_id,
            job.start_time or job.create_time,
            stopping=bool(winner),
            gives_way_to=winner,
            keeps=job.attempts_excused >= MOST_PREEMPTIONS,
        )

    def _candidate(self, job: Job, gpu_type: str, with_torch: frozenset[str]) -> Candidate:
        turn_time = self._waiting.rank(job).turn_time
        machines = with_torch if job.has_definition and with_torch else None
        promised = self.promises.get(job.job_id, "")
        scores = self._placements.scores(job, gpu_type) if self._placements else None
        return Candidate(job.job_id, job.spec.queue, turn_time, machines=machines, promised=promised, scores=scores)


def _preferred_first(offers: Iterable[MachineOffer]) -> list[MachineOffer]:
    """The machine that was used last first: its caches are warm, and the others may idle out."""
    return sorted(offers, key=lambda offer: (offer.last_used_time, offer.machine_id), reverse=True)
