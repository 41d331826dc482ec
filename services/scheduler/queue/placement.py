"""Which machine a job goes to, and which starting machine each waiting job waits for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from services.scheduler.jobs.job import Job

WHOLE_GPU_EIGHTHS = 8


class MachineStage(StrEnum):
    """A machine's state as far as placement cares."""

    STARTING = "starting"
    READY = "ready"
    CLOSED = "closed"
    """It takes no new lease."""


@dataclass(frozen=True)
class MachineOffer:
    """A machine as it was last reported."""

    machine_id: str
    gpu_type: str
    stage: MachineStage
    free_eighths: int
    create_time: datetime
    last_used_time: datetime
    has_torch: bool = False
    """It can evaluate problem definitions."""


def machine_for(job: Job, offers: Iterable[MachineOffer], eighths: int = WHOLE_GPU_EIGHTHS) -> str | None:
    """The ready machine that fits and was used last: its caches are warm, and the others may idle out.

    None where no offer of the wanted GPU type fits. Offers may be late, so the pool has the last word. It also chooses
    the fallback: it knows for sure that there is nothing of the wanted type.
    """
    fitting = [
        offer
        for offer in offers
        if offer.stage is MachineStage.READY and offer.gpu_type == job.spec.gpu_type and offer.free_eighths >= eighths
    ]
    best = max(fitting, key=lambda offer: (offer.last_used_time, offer.machine_id), default=None)
    return best.machine_id if best else None


def machine_with_torch(job: Job, offers: Iterable[MachineOffer], eighths: int = WHOLE_GPU_EIGHTHS) -> str | None:
    """The machine for a job that comes with a problem definition: the best that has torch, also while it is in use.

    None if the job has no definition, or if no ready machine that it may run on has torch: any machine will do then,
    and it uses the catalogue's problem or refuses.
    """
    if not job.has_definition:
        return None
    gpu_types = job.spec.gpu_types
    able = [offer for offer in offers if offer.stage is MachineStage.READY and offer.has_torch]
    able = [offer for offer in able if offer.gpu_type in gpu_types]

    def preference(offer: MachineOffer) -> tuple[bool, int, datetime, str]:
        is_free = offer.free_eighths >= eighths
        return is_free, -gpu_types.index(offer.gpu_type), offer.last_used_time, offer.machine_id

    best = max(able, key=preference, default=None)
    return best.machine_id if best else None


def awaited_machines(in_order: Sequence[Job], offers: Iterable[MachineOffer]) -> dict[str, MachineOffer]:
    """The starting machine that each waiting job can count on, by job id: first job, first machine asked for."""
    starting: dict[str, list[MachineOffer]] = {}
    for offer in sorted(offers, key=lambda offer: (offer.create_time, offer.machine_id)):
        if offer.stage is MachineStage.STARTING:
            starting.setdefault(offer.gpu_type, []).append(offer)
    awaited: dict[str, MachineOffer] = {}
    for job in in_order:
        queues = [starting[gpu_type] for gpu_type in job.spec.gpu_types if starting.get(gpu_type)]
        if queues:
            awaited[job.job_id] = queues[0].pop(0)
    return awaited
