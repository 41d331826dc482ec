"""Says of each machine which rule keeps a waiting job off it, and how machines with room are scored for the job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from servicekit.clock import Clock
from services.scheduler.fairness.situation import Dated, Hold
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import mode_text
from services.scheduler.queue.placement import MachineOffer, MachineStage, machine_with_torch
from services.scheduler.queue.plugins import Placements
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.waiting import WaitingJobs
from vocabulary.slots import Slot, covered

MOST_MACHINES = 50
_NOT_NOW = {
    MachineStage.STARTING: "it is being started",
    MachineStage.CLOSED: "it accepts no new jobs because it is about to stop",
}
_HAS_ROOM = "its free GPUs go to a job ahead, or to another queue's share"


@dataclass(frozen=True)
class Refusal:
    """Why a machine does not take a job. One with room has scores: the first that differs decides, higher is better."""

    machine_id: str
    gpu_type: str
    reason: str
    scores: tuple[tuple[str, float], ...] = ()
    """Names and values: `promised`, then the name of the placement, then `last_used` in seconds from now."""
    is_kept_for_later: bool = False
    """What is free of it is kept for reservations that start later."""


class Refusals:
    """Looks at machines as the next pass would."""

    def __init__(
        self,
        waiting: WaitingJobs,
        running: RunningJobs,
        situations: Situations,
        placements: Placements | None,
        clock: Clock,
    ) -> None:
        self._waiting = waiting
        self._running = running
        self._situations = situations
        self._placements = placements
        self._clock = clock

    def of(self, job: Job, offers: Sequence[MachineOffer]) -> list[Refusal]:
        """The refusals of these machines, best score first, then those without room; at most MOST_MACHINES."""
        held = self._situations.held()
        kept: defaultdict[str, list[tuple[str, Hold]]] = defaultdict(list)
        for job_id, hold in self._situations.holds.items():
            if job_id != job.job_id:
                kept[hold.machine_id].append((job_id, hold))
        dated = {gpu_type: self._situations.kept(gpu_type) for gpu_type in {offer.gpu_type for offer in offers}}
        with_room: list[MachineOffer] = []
        refusals: list[Refusal] = []
        torch_is_there = machine_with_torch(job, offers) is not None
        for offer in offers:
            later = self._situations.in_front(job, offer, dated[offer.gpu_type])
            reason = self._refusal(job, offer, held.get(offer.machine_id, ()), kept.get(offer.machine_id, ()), later)
            if not offer.is_for(job.own_job_id, self._waiting):
                reason = "it was not started for this job" if job.own_job_id else "it was started for another job"
            if not reason and torch_is_there and not offer.has_torch:
                reason = "it does not have torch, which problem definitions need"
            if reason:
                is_kept = bool(later) and reason == _kept_for_later(job, later)
                refusals.append(Refusal(offer.machine_id, offer.gpu_type, reason, is_kept_for_later=is_kept))
            else:
                with_room.append(offer)
        scored = self._scored(job, with_room, held)
        return [*scored, *refusals][:MOST_MACHINES]

    def _refusal(
        self,
        job: Job,
        offer: MachineOffer,
        held: Sequence[Slot],
        kept: Sequence[tuple[str, Hold]],
        dated: Sequence[Dated],
    ) -> str:
        """The rule that keeps the job off the machine; empty if it has room."""
        resources = job.spec.resources.least
        if offer.stage in _NOT_NOW:
            return _NOT_NOW[offer.stage]
        if not offer.could_give(resources):
            return f"it has no GPUs for {resources}: {_gpus_text(offer, resources.gpus)}"
        if not offer.slots_for(resources, held):
            return self._in_use(job, offer)
        if not offer.slots_for(resources, [*held, *(slot for _, hold in kept for slot in hold.slots)]):
            whom = ", ".join(sorted({job_id for job_id, _ in kept}))
            by = max(hold.time for _, hold in kept)
            return f"what is free of it is kept for {whom}, until {by:%H:%M:%S} UTC at the latest"
        later = [slot for one in dated for slot in one.hold.slots]
        if not offer.slots_for(resources, [*held, *(slot for _, hold in kept for slot in hold.slots), *later]):
            return _kept_for_later(job, dated)
        return ""

    def _in_use(self, job: Job, offer: MachineOffer) -> str:
        holders = ", ".join(sorted(one.job_id for one in self._running.jobs() if one.machine_id == offer.machine_id))
        winners = sorted(
            job_id
            for job_id, machine_id in self._situations.promises.items()
            if machine_id == offer.machine_id and job_id != job.job_id
        )
        given = f"; some of them are about to go to {', '.join(winners)}" if winners else ""
        return f"its GPUs are in use{f' by {holders}' if holders else ''}{given}"

    def _scored(self, job: Job, offers: Sequence[MachineOffer], held: Mapping[str, Sequence[Slot]]) -> list[Refusal]:
        if self._placements is None:
            return [Refusal(offer.machine_id, offer.gpu_type, _HAS_ROOM) for offer in offers]
        by_type: defaultdict[str, list[MachineOffer]] = defaultdict(list)
        for offer in offers:
            by_type[offer.gpu_type].append(offer)
        found: list[Refusal] = []
        # The wanted type comes first, whatever machines of the others score.
        for gpu_type in job.spec.gpu_types:
            found += self._scored_of_type(job, gpu_type, by_type[gpu_type], held, self._placements)
        return found

    def _scored_of_type(
        self,
        job: Job,
        gpu_type: str,
        offers: Sequence[MachineOffer],
        held: Mapping[str, Sequence[Slot]],
        placements: Placements,
    ) -> list[Refusal]:
        machines = [self._situations.machine(offer, held.get(offer.machine_id, ())) for offer in offers]
        free = [covered(one.taken or (0,) * one.gpus, held.get(one.machine_id, ())).count(0) for one in machines]
        name, scores = placements.looked_up(job, gpu_type, list(zip(machines, free, strict=True)))
        promised, now = self._situations.promises.get(job.job_id), self._clock.now()
        found = [
            Refusal(
                offer.machine_id,
                gpu_type,
                _HAS_ROOM,
                (
                    ("promised", float(offer.machine_id == promised)),
                    (name, float(score)),
                    ("last_used", (offer.last_used_time - now).total_seconds()),
                ),
            )
            for offer, score in zip(offers, scores, strict=True)
        ]
        return sorted(found, key=lambda one: [value for _, value in one.scores], reverse=True)


def _gpus_text(offer: MachineOffer, wanted: int) -> str:
    """What the machine's GPUs are, so that a job sees why they are none for it."""
    gpus = len(offer.modes)
    if gpus < wanted:
        return f"it has {gpus}"
    counts = sorted({mode.devices for mode in offer.modes})
    return f"they are in {' and '.join(mode_text(offer.gpu_type, count) for count in counts)}"


def _kept_for_later(job: Job, dated: Sequence[Dated]) -> str:
    """That a machine is kept, for whom and from when on."""
    others = [one for one in dated if one.job_id != job.job_id]
    if not others:
        return "it is kept for this job until its other machines are free, too"
    whom = ", ".join(sorted({one.job_id for one in others}))
    begin = min(one.hold.time for one in others)
    return f"what is free of it is kept for {whom} from {begin:%Y-%m-%d %H:%M} UTC on, and this might end later"
