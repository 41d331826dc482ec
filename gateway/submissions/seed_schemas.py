"""Other bodies of the seed-compatible routes; unknown fields are ignored, as they were there."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from gateway.words.answer_words import JobStateWord, MachineStateWord


class CancelRequest(BaseModel):
    """A submission to cancel."""

    submission_id: Annotated[str, Field(alias="submissionId", min_length=1, max_length=200)]


class CancelAnswer(BaseModel):
    """The answer to a cancellation."""

    success: bool
    id: str
    state: JobStateWord
    message: str


class VmPoolEntry(BaseModel):
    """A machine in the figures of the pool."""

    id: str
    state: MachineStateWord
    gpu_type: str
    device: str
    device_title: str
    jobs_run: int
    cost_usd: float


class OrchestratorMetrics(BaseModel):
    """Figures of credit, work and the pool."""

    total_cost_usd: Annotated[
        float, Field(description="For an operator the cost of machines, for others the charges to their account.")
    ]
    charged_usd: Annotated[
        float, Field(description="For an operator the charges to all accounts, for others to their own; less refunds.")
    ]
    cost_note: Annotated[
        str, Field(description="For an operator: why machines cost nothing, if users were charged; or empty.")
    ]
    remaining_credits_usd: Annotated[
        float,
        Field(description="For an operator the grant less that cost, for others the available credit."),
    ]
    credits_used_pct: Annotated[float, Field(description="The cost, in percent of the grant.")]
    tasks_completed: Annotated[int, Field(description="Jobs of all users that ran to their end.")]
    cold_starts: Annotated[int, Field(description="Leases that waited for a machine to start.")]
    warm_reuses: Annotated[int, Field(description="Leases that found a machine ready.")]
    total_vms: Annotated[int, Field(description="All machines so far, including those that have ended.")]
    active_vms: int
    busy_vms: int
    idle_seconds: Annotated[float, Field(description="Time that machines were ready but idle.")]
    vm_cost_usd: Annotated[float, Field(description="The cost of all machines, as their providers bill it.")]
    vm_pool: list[VmPoolEntry]
    queued_jobs: int
    running_jobs: int
