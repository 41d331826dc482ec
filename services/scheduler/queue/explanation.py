"""Says why a job waits, what would free it, and why each machine does not take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.scheduler.fairness.settings import in_gpus
from services.scheduler.jobs.job import OVER_STATES, WAITING_STATES, JobState
from services.scheduler.jobs.resources import Reuse
from services.scheduler.queue.placement import MachineStage
from services.scheduler.queue.waiting import lane_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, timedelta

    from services.scheduler.jobs.estimate import WaitEstimate
    from services.scheduler.jobs.job import Job
    from services.scheduler.queue.demand import DemandReporter
    from services.scheduler.queue.forecast import Forecast
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.placement import MachineOffer
    from services.scheduler.queue.running import RunningJobs
    from services.scheduler.queue.situations import Situations
    from services.scheduler.queue.waiting import WaitingJobs
    from vocabulary.slots import Slot

MOST_MACHINES = 50
_NOW = {
    JobState.RUNNING: "It runs on {machine}.",
    JobState.SETTLING: "It has run, and its charge is being settled.",
}

_NOT_READY = {
    MachineStage.STARTING: "it is being started",
    MachineStage.CLOSED: "it takes no new jobs, as it is about to stop",
}


@dataclass(frozen=True)
class Explanation:
    """Where a job stands. `machines` has the id, GPU type and reason of each machine that does not take it."""

    reason: str
    remedy: str = ""
    position: int = 0
    ahead_in_queue: int = 0
    ahead_in_others: int = 0
    wait: WaitEstimate | None = None
    machines: tuple[tuple[str, str, str], ...] = ()
    latest_start_time: datetime | None = None
    """If it still waits after this, its deadline ends it; None if it has none."""


class Explainer:
    """Explains from what the last pass found; `reasons` gives the reason of each job that the pass looked at."""

    def __init__(
        self,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        forecast: Forecast,
        demand: DemandReporter,
        situations: Situations,
        reasons: Callable[[], Mapping[str, str]],
        longest_run: timedelta,
    ) -> None:
        self._waiting = waiting
        self._running = running
        self._inventory = inventory
        self._forecast = forecast
        self._demand = demand
        self._situations = situations
        self._reasons = reasons
        self._longest_run = longest_run

    def explain(self, job: Job) -> Explanation:
        """Where the job stands."""
        if job.state in OVER_STATES:
            return Explanation(f"It is over: {job.message or job.verdict or job.state}")
        if job.state not in WAITING_STATES:
            return Explanation(_NOW[job.state].format(machine=job.machine_id or "a machine"))
        ahead = self._waiting.ahead(job)
        offers = [offer for offer in self._inventory.offers() if offer.gpu_type in job.spec.gpu_types]
        held = self._situations.held()
        machines = [
            (offer.machine_id, offer.gpu_type, self._refusal(job, offer, held.get(offer.machine_id, ())))
            for offer in offers
        ]
        usable = [offer for offer in offers if offer.is_for(job.own_job_id, self._waiting)]
        reason, remedy = self._why(job, ahead.position - 1, usable)
        return Explanation(
            reason,
            remedy,
            ahead.position,
            ahead.in_queue,
            ahead.in_others,
            self._forecast.standing(job).wait,
            tuple(machines[:MOST_MACHINES]),
            job.spec.latest_start(self._longest_run),
        )

    def _why(self, job: Job, ahead: int, offers: list[MachineOffer]) -> tuple[str, str]:
        types = " or ".join(job.spec.gpu_types)
        full = self._situations.full_queue(job)
        if full:
            queue, limit = full
            reason = f"Queue {queue} has as many GPUs of {job.spec.gpu_type} as its limit allows, {in_gpus(limit)}."
            return reason, f"A run of queue {queue} that ends, or a higher limit."
        blocked = self._demand.blocked(lane_of(job))
        if missing := self._missing(job, types, offers, blocked):
            return missing
        reason = self._reasons().get(job.job_id, "")
        more = f" No further machine starts: {blocked}" if blocked else ""
        if reason and ahead == 0:
            room = self._situations.first_room(job)
            by = f" Those on {room.machine_id} have by {room.time:%H:%M:%S} UTC, at their time limits." if room else ""
            return f"It is next: {reason}.", f"Runs on {types} that end.{by}{more}"
        jobs = "1 job is" if ahead == 1 else f"{ahead} jobs are"
        why = f" ({reason})" if reason else ""
        return f"{jobs} ahead of it for {types}{why}.", f"Runs on {types} that end, or a further machine.{more}"

    def _missing(self, job: Job, types: str, offers: Sequence[MachineOffer], blocked: str) -> tuple[str, str] | None:
        """What is missing if no machine is ready that could take the job, and what helps; None if there is one."""
        resources, own_job_id = job.spec.resources, job.own_job_id
        suits = self._inventory.suits(resources, job.spec.gpu_types, own_job_id, self._waiting)
        if own_job_id and not suits:
            return f"It wants a new machine of its own with {types} (`create`).", self._remedy(job, blocked)
        if job.spec.reuse is Reuse.REUSE and not suits:
            can = f" that can give {resources}" if offers else ""
            remedy = "A machine that is started for others; none is started for a submission with `reuse`."
            return f"There is no machine with {types}{can}, and it asks for none (`reuse`).", remedy
        if not offers:
            remedy = blocked or "A machine is asked for; it starts when a provider has one."
            return f"There is no machine with {types}.", remedy
        if not suits:
            return f"No machine with {types} can give {resources}.", self._remedy(job, blocked)
        stages = {offer.stage for offer in offers}
        if MachineStage.STARTING in stages and MachineStage.READY not in stages:
            return f"A machine with {types} is being started.", "It goes on when the machine is ready."
        return None

    def _remedy(self, job: Job, blocked: str) -> str:
        """What helps a job that no machine can take."""
        if self._inventory.can_have(job.spec.resources, job.spec.gpu_types):
            return blocked or "A machine is asked for."
        return (
            "Ask for a whole GPU, or for `time-slice` or `cu-mask` on machines that share theirs (EXECUTOR_MAX_RUNS); "
            "or an operator puts GPUs in a mode with such partitions."
        )

    def _refusal(self, job: Job, offer: MachineOffer, held: Sequence[Slot]) -> str:
        if not offer.is_for(job.own_job_id, self._waiting):
            return "it was not started for this job" if job.own_job_id else "it was started for another job"
        if offer.stage is not MachineStage.READY:
            return _NOT_READY[offer.stage]
        holders = ", ".join(sorted(job.job_id for job in self._running.jobs() if job.machine_id == offer.machine_id))
        resources = job.spec.resources
        if not offer.could_give(resources):
            return f"it has no GPUs for {resources}"
        if not offer.slots_for(resources, held):
            return f"its GPUs are in use by {holders}" if holders else "its GPUs are in use"
        if job.has_definition and not offer.has_torch:
            return "it has no torch, which problem definitions need"
        return "what is free of it goes to a job that is ahead, or to another queue by its share"
