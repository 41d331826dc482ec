"""Says why a job waits, what would free it, and why each machine does not take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.scheduler.fairness.settings import in_gpus
from services.scheduler.jobs.availability import QueueHead
from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation_checks import length_text, maintenance_of, wrong_size
from services.scheduler.jobs.resources import Isolation, Reuse, modes_for
from services.scheduler.jobs.retries import NO_TORCH
from services.scheduler.jobs.states import OVER_STATES, WAITING_STATES, JobState
from services.scheduler.queue.dated_admission import DatedAdmission
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.maintenance_book import MaintenanceBook
from services.scheduler.queue.placement import MachineOffer, MachineStage
from services.scheduler.queue.refusals import Refusal, Refusals
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.waiting import WaitingJobs, lane_of
from vocabulary.slots import covered

_NOW = {
    JobState.RUNNING: "It runs on {machine}.",
    JobState.SETTLING: "It has run, and its charge is being settled.",
}


@dataclass(frozen=True)
class Explanation:
    """Where a job stands, and why each machine does not take it."""

    reason: str
    remedy: str = ""
    position: int = 0
    ahead_in_queue: int = 0
    ahead_in_others: int = 0
    wait: WaitEstimate | None = None
    machines: tuple[Refusal, ...] = ()
    latest_start_time: datetime | None = None
    """If it still waits after this, its deadline ends it; None if it has none."""
    estimate_basis: str = ""


class Explainer:
    """Explains from what the last pass found; `reasons` gives the reason of each job that the pass looked at."""

    def __init__(
        self,
        waiting: WaitingJobs,
        inventory: Inventory,
        forecast: Forecast,
        demand: DemandReporter,
        situations: Situations,
        refusals: Refusals,
        dated: DatedAdmission,
        reasons: Callable[[], Mapping[str, str]],
        longest_run: timedelta,
        maintenance: MaintenanceBook,
    ) -> None:
        self.maintenance = maintenance
        self._waiting = waiting
        self._inventory = inventory
        self._forecast = forecast
        self._demand = demand
        self._situations = situations
        self._refusals = refusals
        self._dated = dated
        self._reasons = reasons
        self._longest_run = longest_run

    def explain(self, job: Job) -> Explanation:
        """Where the job stands."""
        if job.state in OVER_STATES:
            return Explanation(f"It is over: {job.message or job.verdict or job.state}")
        if job.state not in WAITING_STATES:
            return Explanation(_NOW[job.state].format(machine=job.machine_id or "a machine"))
        if job.is_pending:
            begin = f"It starts at {job.reserved.start_time:%Y-%m-%d %H:%M:%S} UTC."
            return Explanation(f"{begin} {self._kept_for(job)}", "Nothing until then.")
        ahead = self._waiting.ahead(job)
        offers = [offer for offer in self._inventory.offers() if offer.gpu_type in job.spec.gpu_types]
        reason, remedy = self._why(job, ahead.position - 1, self._usable(job))
        standing, refusals = self._forecast.standing(job), self._refusals.of(job, offers)
        said = [reason, *self._closed(job)]
        if kept := next((one for one in refusals if one.is_kept_for_later), None):
            said.append(f"Of {kept.machine_id}: {kept.reason}.")
        said += self._dated.borrowing.why(job)
        if standing.unknown and standing.unknown not in reason:
            said.append(f"How long it waits is not known: {standing.unknown}.")
        return Explanation(
            " ".join(said),
            remedy,
            ahead.position,
            ahead.in_queue,
            ahead.in_others,
            standing.wait,
            tuple(refusals),
            job.spec.latest_start(self._longest_run),
            standing.basis,
        )

    def _closed(self, job: Job) -> list[str]:
        """Which of a job's GPU types are in maintenance."""
        closed = {gpu_type: maintenance_of(gpu_type, self.maintenance) for gpu_type in job.spec.gpu_types}
        return [f"{gpu_type} is in maintenance: {one.text}." for gpu_type, one in closed.items() if one]

    def _kept_for(self, job: Job) -> str:
        """What is kept for a reservation that starts later, as far as its machines are there."""
        holds = [one.hold for one in self._situations.kept(job.spec.gpu_type) if one.job_id == job.job_id]
        if not holds:
            return "Nothing is kept for it of the machines that are there: the pool has yet to start its own."
        return f"{'; '.join(map(str, holds))}."

    async def ask_pool(self, jobs: Iterable[Job]) -> None:
        """Asks what machines the pool may start, if `never` or `never_paid` depends on that for one of the jobs."""
        if any(job.spec.resources.least.gpus > 1 or not self._usable(job) for job in jobs):
            await self._dated.pool_limits()

    @property
    def knows_machines(self) -> bool:
        """False for a moment after a start, and while vmpool's machines cannot be followed."""
        return self._inventory.is_complete

    def is_doubtful(self, job: Job) -> bool:
        """True if it is not known yet whether a machine can ever take the job."""
        return not self._inventory.knows(job.spec.gpu_types)

    def never(self, job: Job) -> str:
        """Why no machine that there is, or that the pool may start, can give a job its GPUs, and what helps.

        Empty if one can, or if that is not known: in doubt it waits. What the pool may start is as it was last asked.
        """
        resources, gpu_types = job.spec.resources.least, job.spec.gpu_types
        if small := self._situations.small_queue(job):
            at_most = f"Queue {small.name} may have {in_gpus(small.most)} of {job.spec.gpu_type} at a time"
            takes = in_gpus(job.spec.least_milli)
            if small.longest is not None:
                at_most = f"{at_most} in reservations that last more than {length_text(small.longest)}"
            shorter = ", reserve for less time" if small.longest else ""
            return f"{at_most}, and this takes {takes}. Ask for less{shorter}, or use another queue."
        if not self._inventory.is_complete:
            return ""
        if not self._dated.may_have(gpu_types):
            none = f"There is no machine with {' or '.join(gpu_types)}, and the pool can start none."
            return f"{none} Ask for another GPU type; `wavepool avail` lists those that can be had."
        if not self._inventory.can_have(resources, gpu_types):
            what = f"No machine with {' or '.join(gpu_types)} can give {resources}."
            return f"{what} {self._remedy(job, self._usable(job), blocked='')}"
        wrong = wrong_size(resources.gpus, 1, self._dated.largest_machine(gpu_types))
        return "".join(f"The number of GPUs {fault}." for _, fault in wrong)

    def without_torch(self, job: Job) -> str:
        """Why nothing here can evaluate a job's definition, and what helps; empty if something can, or may soon."""
        if not job.has_definition or not self._inventory.is_complete:
            return ""
        there = [offer for offer in self._inventory.offers() if offer.gpu_type in job.spec.gpu_types]
        may_have_it = any(offer.has_torch or offer.stage is MachineStage.STARTING for offer in there)
        return "" if may_have_it or not there else NO_TORCH

    def never_paid(self, job: Job) -> str:
        """Why no machine is there for a job, and none can be paid for; empty if that is not so, or not known."""
        may_be_there = self._usable(job) or not self._inventory.is_complete
        why = "" if may_be_there else self._dated.never_paid(job.spec.gpu_types)
        return f"No machine with {' or '.join(job.spec.gpu_types)} can be paid for: {why}." if why else ""

    def hopeless(self, job: Job) -> str:
        """Why no machine can ever take the job, or be paid for; empty if one may."""
        return self.never(job) or self.never_paid(job)

    def head(self, gpu_type: str) -> QueueHead | None:
        """The first in line for a GPU type, and why it waits; None if nothing waits for it."""
        job = self._waiting.head(gpu_type)
        if job is None:
            return None
        resources = job.spec.resources
        part = resources.eighths if resources.is_part else 0
        return QueueHead(job.spec.gpus_in_all, job.create_time, self._public_reason(job), part)

    def _public_reason(self, job: Job) -> str:
        """Why a job waits, for people who may not know whose it is. The policies' own reasons name jobs."""
        if unpaid := self.never_paid(job):
            return unpaid
        offers = self._usable(job)
        if at_hand := self._at_hand(job, offers):
            return at_hand[0]
        if job.is_dated:
            return f"It starts at {job.reserved.start_time:%Y-%m-%d %H:%M:%S} UTC."
        if job.spec.machines > 1:
            return f"It takes {job.spec.machines} machines with {job.spec.resources} each, at one time."
        held = self._situations.held()
        ready = [offer for offer in offers if offer.stage is MachineStage.READY]
        if any(offer.slots_for(job.spec.resources.least, held[offer.machine_id]) for offer in ready):
            kept = "kept for others, by the shares of queues or for later"
            return f"It needs {job.spec.resources}, which is free: it starts now, or the GPUs are {kept}."
        free = [sum(not mask for mask in covered(offer.taken, held[offer.machine_id])) for offer in ready]
        room = self._situations.first_room(job)
        by = f"; it has room by {room.time:%H:%M:%S} UTC, at the time limits of what runs" if room else ""
        return f"It needs {job.spec.resources}, and no machine has more than {max(free, default=0)} free{by}."

    def _usable(self, job: Job) -> list[MachineOffer]:
        return [
            offer
            for offer in self._inventory.offers()
            if offer.gpu_type in job.spec.gpu_types and offer.is_for(job.own_job_id, self._waiting)
        ]

    def _at_hand(self, job: Job, offers: Sequence[MachineOffer]) -> tuple[str, str] | None:
        """Why it waits whatever is ahead of it, and what helps; None if it only waits for its turn."""
        full = self._situations.full_queue(job)
        if full:
            later = ", with what starts later," if self._situations.promised(job) else ""
            has = f"Queue {full.name} has{later} as many GPUs of {job.spec.gpu_type}"
            if full.longest is not None:
                than = f"reservations that last more than {length_text(full.longest)}"
                reason = f"{has} as its quota, {in_gpus(full.most)}, allows for {than}."
                return reason, f"A run of queue {full.name} that ends, or a shorter reservation."
            return (
                f"{has} as its limit allows, {in_gpus(full.most)}.",
                f"A run of queue {full.name} that ends, or a higher limit.",
            )
        return self._missing(job, " or ".join(job.spec.gpu_types), offers, self._demand.blocked(lane_of(job)))

    def _why(self, job: Job, ahead: int, offers: Sequence[MachineOffer]) -> tuple[str, str]:
        if at_hand := self._at_hand(job, offers):
            return at_hand
        types, blocked = " or ".join(job.spec.gpu_types), self._demand.blocked(lane_of(job))
        reason = self._reasons().get(job.job_id, "")
        more = f" No further machine starts: {blocked}" if blocked else ""
        if reason and ahead == 0:
            room = self._situations.first_room(job)
            by = f" Runs on {room.machine_id} end by {room.time:%H:%M:%S} UTC, at their time limits." if room else ""
            return f"It is next: {reason}.", f"Runs on {types} that end.{by}{more}"
        jobs = "1 job is" if ahead == 1 else f"{ahead} jobs are"
        why = f" ({reason})" if reason else ""
        return f"{jobs} ahead of it for {types}{why}.", f"Runs on {types} that end, or a further machine.{more}"

    def _missing(self, job: Job, types: str, offers: Sequence[MachineOffer], blocked: str) -> tuple[str, str] | None:
        """What is missing if no machine is ready that could take the job, and what helps; None if there is one."""
        resources, own_job_id = job.spec.resources, job.own_job_id
        suits = self._inventory.suits(resources, job.spec.gpu_types, own_job_id, self._waiting)
        if own_job_id and not suits:
            return f"It needs a new machine of its own with {types} (`create`).", self._remedy(job, offers, blocked)
        if job.spec.reuse is Reuse.REUSE and not suits:
            can = f" that can give {resources}" if offers else ""
            remedy = "A machine that is started for others; none is started for a submission with `reuse`."
            return f"There is no machine with {types}{can}, and it asks for none (`reuse`).", remedy
        if not offers:
            remedy = blocked or "A machine is asked for; it starts when a provider has one."
            if not self._inventory.can_have(resources, job.spec.gpu_types):
                remedy = f"{_sentence(blocked)} {self._other_mode(job, offers)}"
            return f"There is no machine with {types}.", remedy
        if not suits:
            return f"No machine with {types} can give {resources}.", self._remedy(job, offers, blocked)
        stages = {offer.stage for offer in offers}
        if MachineStage.STARTING in stages and MachineStage.READY not in stages:
            return f"A machine with {types} is being started.", "It goes on when the machine is ready."
        return None

    def _remedy(self, job: Job, offers: Sequence[MachineOffer], blocked: str) -> str:
        """What helps a job that no machine can take."""
        resources = job.spec.resources
        if resources.is_plain:
            return blocked or "A machine is asked for."
        if self._inventory.can_have(resources, job.spec.gpu_types):
            asked = _sentence(blocked) if blocked else "A machine is asked for."
            return f"{asked} {self._other_mode(job, offers)}".strip()
        return f"{self._other_size(job)} {self._other_mode(job, offers)}".strip()

    def _other_size(self, job: Job) -> str:
        """What a job may ask for instead of a part of a GPU, or of devices, that no machine can give."""
        resources = job.spec.resources
        if not resources.is_part:
            return "Leave `devices` out."
        shared = [
            f"`{one}`"
            for one in (Isolation.TIME_SLICE, Isolation.CU_MASK)
            if self._inventory.can_have(replace(resources, isolation=one, devices=0), job.spec.gpu_types)
        ]
        if shared:
            return f"Ask for a whole GPU, or for the isolation {' or '.join(shared)}, which machines here give."
        return "Ask for a whole GPU; the machines here do not share theirs (EXECUTOR_MAX_RUNS)."

    def _other_mode(self, job: Job, offers: Sequence[MachineOffer]) -> str:
        """In which modes GPUs could take the job, and which one is idle; empty if none helps, or that is not known."""
        if job.spec.resources.isolation in {Isolation.TIME_SLICE, Isolation.CU_MASK}:
            return ""
        modes = {gpu_type: modes_for(job.spec.resources, gpu_type) for gpu_type in job.spec.gpu_types}
        said = [f"{gpu_type} in {' or '.join(found)}" for gpu_type, found in modes.items() if found]
        if not said:
            return ""
        held = self._situations.held()
        idle = next(
            (
                f"GPU {gpu} of {offer.machine_id} is idle."
                for offer in offers
                if modes[offer.gpu_type] and offer.stage is MachineStage.READY
                for gpu, mask in enumerate(covered(offer.taken, held.get(offer.machine_id, ())))
                if not mask
            ),
            "None is idle now.",
        )
        return f"An operator would have to set an idle GPU to another mode: {'; '.join(said)}. {idle}"


def _sentence(text: str) -> str:
    """The text as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""
