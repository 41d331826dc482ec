"""Other bodies of the seed-compatible routes; unknown fields are ignored, as they were there."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field


class CancelRequest(BaseModel):
    """A submission to cancel."""

    submission_id: Annotated[str, Field(alias="submissionId", min_length=1, max_length=200)]


class CancelAnswer(BaseModel):
    """The answer to a cancellation."""

    success: bool
    id: str
    state: str
    message: str


class VmPoolEntry(BaseModel):
    """A machine in the figures of the pool."""

    id: str
    state: str
    gpu_type: str
    device: str
    device_title: str
    jobs_run: int
    cost_usd: float


class OrchestratorMetrics(BaseModel):
    """Figures of credit, work and the pool."""

    total_cost_usd: float
    remaining_credits_usd: float
    credits_used_pct: float
    tasks_completed: int
    cold_starts: int
    warm_reuses: int
    total_vms: Annotated[int, Field(description="Machines that there ever were, those that are over included.")]
    active_vms: int
    busy_vms: int
    idle_seconds: Annotated[float, Field(description="Time that machines stood ready with nothing to do.")]
    vm_cost_usd: Annotated[float, Field(description="What all machines cost, as their providers bill them.")]
    vm_pool: list[VmPoolEntry]
    queued_jobs: int
    running_jobs: int
