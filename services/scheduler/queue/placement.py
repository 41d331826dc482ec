"""Chooses the machine for a job, and the starting machine that each waiting job can count on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import GpuMode, Resources
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, Slot, covered, free_slots, freed


class MachineStage(StrEnum):
    """A machine's state, as far as it matters to placement."""

    STARTING = "starting"
    READY = "ready"
    CLOSED = "closed"
    """The machine takes no new lease."""


@dataclass(frozen=True)
class MachineOffer:
    """A machine as it was last reported."""

    machine_id: str
    gpu_type: str
    stage: MachineStage
    free_masks: tuple[int, ...]
    """The free eighths of each GPU, as in `vocabulary/slots.py`."""
    create_time: datetime
    last_used_time: datetime
    has_torch: bool = False
    """True if it can evaluate problem definitions."""
    modes: tuple[GpuMode, ...] = (GpuMode(),)
    """Of each GPU."""
    own_job_id: str = ""
    """The job that it was started for and that has yet to use it; empty if it is for any."""
    site: tuple[str, ...] = ()
    """Its provider, and its place there in the provider's words."""
    life_end: datetime | None = None
    """It lasts until then at the most; None for no limit."""
    registries: tuple[str, ...] | None = None
    """Where images of sessions may come from; None if it does not say."""

    @property
    def taken(self) -> tuple[int, ...]:
        """The taken eighths of each GPU, as bit masks."""
        return tuple(WHOLE_GPU & ~mask for mask in self.free_masks)

    @property
    def free_eighths(self) -> int:
        """Number of free eighths on all GPUs."""
        return sum(mask.bit_count() for mask in self.free_masks)

    @property
    def is_idle(self) -> bool:
        """True if it is ready, and nobody has a part of it."""
        return self.stage is MachineStage.READY and all(mask == WHOLE_GPU for mask in self.free_masks)

    def is_for(self, own_job_id: str, waiting: Container[str]) -> bool:
        """True if a job may have it: its own one, or any if the one that it was started for waits no longer.

        `own_job_id` is that of a job that wants a machine of its own, and empty for others; `waiting` has the ids of
        those that wait.
        """
        return self.own_job_id == own_job_id if own_job_id else self.own_job_id not in waiting

    def could_give(self, resources: Resources) -> bool:
        """True if enough of its GPUs are in a mode that can give this, free or not."""
        return sum(map(resources.fits, self.modes)) >= resources.least.gpus

    def without(self, slots: Sequence[Slot]) -> MachineOffer:
        """The same machine once these slots are given back."""
        taken = freed(self.taken, slots)
        return replace(self, free_masks=tuple(WHOLE_GPU & ~mask for mask in taken))

    def slots_for(self, resources: Resources, held: Iterable[Slot]) -> tuple[Slot, ...]:
        """Free slots for a job, where least is broken up; empty if there are none. `held` are those of our jobs."""
        held = list(held)
        occupied = list(covered(self.taken, held))
        for gpu, mode in enumerate(self.modes[: len(occupied)]):
            if not resources.fits(mode):
                occupied[gpu] = WHOLE_GPU
            elif resources.isolation.may_share:
                occupied[gpu] |= _full_devices(gpu, mode, held)
        return free_slots(occupied, resources.eighths)


def _full_devices(gpu: int, mode: GpuMode, held: Sequence[Slot]) -> int:
    """The eighths of a GPU's devices that have as many runs as they may."""
    width = max(1, EIGHTHS_PER_GPU // mode.devices)
    full = 0
    for first in range(0, EIGHTHS_PER_GPU, width):
        device = Slot(gpu, first, width)
        if sum(map(device.overlaps, held)) >= mode.runs_per_device:
            full |= device.mask
    return full


def machine_with_torch(job: Job, offers: Iterable[MachineOffer]) -> str | None:
    """The machine for a job with a problem definition: the best one with torch, even if it is in use.

    None if the job has no definition, or if no ready machine that it may run on has torch. Any machine will do then; it
    uses the catalogue's problem or refuses.
    """
    if not job.has_definition:
        return None
    gpu_types = job.spec.gpu_types
    able = [offer for offer in offers if offer.stage is MachineStage.READY and offer.has_torch]
    able = [offer for offer in able if offer.gpu_type in gpu_types]

    def preference(offer: MachineOffer) -> tuple[bool, int, datetime, str]:
        is_free = offer.free_eighths >= job.spec.resources.least.eighths
        return is_free, -gpu_types.index(offer.gpu_type), offer.last_used_time, offer.machine_id

    best = max(able, key=preference, default=None)
    return best.machine_id if best else None


def awaited_machines(
    in_order: Sequence[Job],
    offers: Iterable[MachineOffer],
    waiting: Container[str],
    can_have: Callable[[Resources, Collection[str]], bool] = lambda _resources, _gpu_types: True,
) -> dict[str, MachineOffer]:
    """The starting machine that each waiting job can count on, by job id; the first job gets the oldest request.

    `waiting` has the ids of all that wait, of which some may not be among these. `can_have` says whether machines of
    such types give such resources: a machine that starts for others is nothing to whom it has no room for.
    """
    starting = [offer for offer in offers if offer.stage is MachineStage.STARTING]
    starting.sort(key=lambda offer: (offer.create_time, offer.machine_id))
    gpus = {offer.machine_id: max(1, len(offer.free_masks)) for offer in starting}
    awaited: dict[str, MachineOffer] = {}
    for job in in_order:
        spec, wanted = job.spec, job.spec.resources.least.gpus
        able = [
            offer
            for offer in starting
            if offer.gpu_type in spec.gpu_types
            and gpus[offer.machine_id] >= wanted
            and can_have(spec.resources, (offer.gpu_type,))
            and offer.is_for(job.own_job_id, waiting)
        ]
        if able:
            chosen = min(able, key=lambda offer: spec.gpu_types.index(offer.gpu_type))
            gpus[chosen.machine_id] -= wanted
            awaited[job.job_id] = chosen
    return awaited
