"""The bodies of the seed-compatible routes; fields that we do not know are let through, as they were."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gateway.words.modes import Endpoint
from gateway.words.submission_fields import (
    EXAMPLE_SOURCE,
    FallbackGpuTypes,
    GpuType,
    LaunchPlan,
    ProblemDefinition,
    ProblemSlug,
    Source,
    Timing,
)
from vocabulary.limits import DEFAULT_DTYPE


class AmdSubmitRequest(BaseModel):
    """A submission as the AMD runner takes it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"solution_code": EXAMPLE_SOURCE, "problem": "vector-addition"}]}
    )

    endpoint: Endpoint = Endpoint.FULL
    problem_def: Annotated[ProblemDefinition, BeforeValidator(lambda definition: definition or "")] = ""
    problem: ProblemSlug = ""
    solution_code: Source
    launch_plan: LaunchPlan = None
    timing: Timing = None
    gpu_type: GpuType = ""
    fallback_gpu_types: FallbackGpuTypes = []
    dtype: Annotated[str, Field(max_length=40)] = DEFAULT_DTYPE
    language: Annotated[str, Field(max_length=40)] = "hip"
    submission_id: Annotated[str, Field(max_length=200, description="An idempotency key.")] = ""


class DirectSubmitRequest(BaseModel):
    """A submission as Tensara's web application takes it."""

    problem_slug: Annotated[str, Field(alias="problemSlug", min_length=1, max_length=100)]
    code: Source
    language: Annotated[str, Field(max_length=40)] = "hip"
    gpu_type: Annotated[GpuType, Field(alias="gpuType")] = ""
    fallback_gpu_types: Annotated[FallbackGpuTypes, Field(alias="fallbackGpuTypes")] = []
    dtype: Annotated[str, Field(max_length=40)] = DEFAULT_DTYPE
    problem_def: ProblemDefinition = ""
    launch_plan: LaunchPlan = None
    timing: Timing = None


class SandboxRequest(BaseModel):
    """A whole program."""

    code: Source
    language: Annotated[str, Field(max_length=40)] = "hip"
    gpu_type: Annotated[GpuType, Field(alias="gpuType")] = ""
    fallback_gpu_types: Annotated[FallbackGpuTypes, Field(alias="fallbackGpuTypes")] = []


class CancelRequest(BaseModel):
    """A submission to cancel."""

    submission_id: Annotated[str, Field(alias="submissionId", min_length=1, max_length=200)]


class CancelAnswer(BaseModel):
    """What became of it."""

    success: bool
    id: str
    state: str
    message: str


class VmPoolEntry(BaseModel):
    """A machine in the pool's figures."""

    id: str
    state: str
    gpu_type: str
    device: str
    device_title: str
    jobs_run: int
    cost_usd: float


class OrchestratorMetrics(BaseModel):
    """Credit, work and pool in numbers."""

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
