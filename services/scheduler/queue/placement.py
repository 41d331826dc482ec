"""Chooses the machine for a job, and the starting machine that each waiting job can count on."""

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
    free_eighths: int
    create_time: datetime
    last_used_time: datetime
    has_torch: bool = False
    """True if it can evaluate problem definitions."""


def machine_with_torch(job: Job, offers: Iterable[MachineOffer], eighths: int = WHOLE_GPU_EIGHTHS) -> str | None:
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
        is_free = offer.free_eighths >= eighths
        return is_free, -gpu_types.index(offer.gpu_type), offer.last_used_time, offer.machine_id

    best = max(able, key=preference, default=None)
    return best.machine_id if best else None


def awaited_machines(in_order: Sequence[Job], offers: Iterable[MachineOffer]) -> dict[str, MachineOffer]:
    """The starting machine that each waiting job can count on, by job id; the first job gets the oldest request."""
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
