"""The bodies of our own HTTP interface, with the words that its documentation shows."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.words.modes import Mode
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


class SubmissionRequest(BaseModel):
    """What to run."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"problem": "vector-addition", "code": EXAMPLE_SOURCE, "mode": "full"}]},
    )

    mode: Annotated[
        Mode,
        Field(
            description="`check`: compile and check every test. `benchmark`, `full`: then measure. `sample`: show one "
            "small case with its output. `sandbox`: run a whole program with its own `main`."
        ),
    ] = Mode.FULL
    problem_def: ProblemDefinition = ""
    problem: ProblemSlug = ""
    code: Source
    launch_plan: LaunchPlan = None
    timing: Timing = None
    gpu_type: GpuType = ""
    fallback_gpu_types: FallbackGpuTypes = []
    dtype: Annotated[str, Field(max_length=40)] = DEFAULT_DTYPE
    language: Annotated[str, Field(max_length=40)] = "hip"
    priority: Annotated[
        int,
        Field(
            strict=True, ge=-100, le=100, description="Each point is worth some waiting; above 0 for administrators."
        ),
    ] = 0


class GpuPrice(BaseModel):
    """A GPU type that may be asked for."""

    gpu_type: str
    price_usd_per_hour: Annotated[float, Field(description="Of one whole GPU.")]


class GpuTypes(BaseModel):
    """What may be asked for."""

    gpu_types: Annotated[list[GpuPrice], Field(description="The first is that of whoever names none.")]


class Submission(BaseModel):
    """A submission as it is now."""

    id: str
    problem: str
    mode: str
    timing: Annotated[str | None, Field(description="As it was asked for; null: the device's own way.")]
    gpu_type: str
    fallback_gpu_types: list[str]
    dtype: str
    language: str
    priority: int
    state: Annotated[
        str, Field(description="QUEUED, PROVISIONING, RUNNING, SETTLING, or over: FINISHED, CANCELLED, FAILED.")
    ]
    status: Annotated[str | None, Field(description="The status of the last event, once it is over.")]
    verdict: str | None
    timing_status: Annotated[
        str | None,
        Field(
            description="Whether its time ranks, beside the verdict on its answers: VALID (alone does), INVALID, "
            "UNSTABLE, UNPROVEN; null where nothing was timed. As `timing` of the last event."
        ),
    ]
    shown_interval: Annotated[
        float | None,
        Field(
            description="Half the width of the interval over the time, to be shown instead of VALID: on a device whose "
            "times never rank it is above 0.05. Else null."
        ),
    ]
    message: str
    create_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    attempt: int
    machine_id: str | None
    machine_gpu_type: Annotated[
        str | None, Field(description="Which of the GPU types that were asked for it got, once it has a machine.")
    ]
    cost_usd: Annotated[float, Field(description="Settled once it is over.")]
    billable_seconds: Annotated[float | None, Field(description="The time that the cost is for, once it is over.")]
    last_event_id: int
    events_url: str


class SubmissionDetail(Submission):
    """A submission with its code, and its result once it is over."""

    code: str
    launch_plan: Annotated[dict[str, Any] | None, Field(description="Of a submission that has kernels only.")]
    problem_def: Annotated[str, Field(description="Of a submission with a problem of its own; else empty.")]
    result: Annotated[dict[str, Any] | None, Field(description="The fields of the last event.")]


class SubmissionIsa(BaseModel):
    """What the MI300X's compiler makes of a submission, on whatever it ran."""

    id: str
    isa: Annotated[dict[str, Any], Field(description="By kernel: registers, memory, occupancy, hints.")]
    isa_toolchain: str | None
    isa_note: Annotated[str | None, Field(description="Why there is nothing, or what to know of it.")]
    listing: Annotated[str, Field(description="The instructions below their source lines; at most 256 KiB.")]


class SubmissionPage(BaseModel):
    """A page of submissions, newest first."""

    submissions: list[Submission]
    next_page_token: Annotated[str, Field(description="Empty on the last page.")]


class ProblemSummary(BaseModel):
    """A problem of the catalogue."""

    slug: str
    title: str
    difficulty: str
    tags: list[str]
    dtypes: list[str]
    signature: Annotated[str, Field(description="The parameters of `solution`, in order.")]


class ProblemDetail(ProblemSummary):
    """A problem with its texts."""

    statement: Annotated[str, Field(description="Markdown.")]
    starter: Annotated[str, Field(description="HIP source to begin from.")]


class ProblemList(BaseModel):
    """The catalogue, by slug."""

    problems: list[ProblemSummary]


class Posting(BaseModel):
    """One line of the ledger: credit added is positive, credit held or spent negative."""

    id: str
    create_time: datetime | None
    kind: str
    amount_usd: float
    description: str


class Costs(BaseModel):
    """An account's credit and a page of its ledger, newest first. available = granted - charged - held."""

    account_name: str
    granted_usd: float
    charged_usd: float
    held_usd: float
    available_usd: float
    alert_threshold_pct: float
    alert_fired: bool
    postings: list[Posting]
    next_page_token: str


class Me(BaseModel):
    """Whose token this is."""

    account_id: str
    account_name: str
    token_id: str
    admin: bool


class TokenRequest(BaseModel):
    """A token to make."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "laptop"}]})

    name: Annotated[str, Field(min_length=1, max_length=100, description="For people.")]
    account_id: Annotated[str, Field(max_length=100, description="Your own account where empty.")] = ""


class NewToken(BaseModel):
    """A new token; `token` is shown this once."""

    id: str
    token: str


class Token(BaseModel):
    """A token without its secret."""

    id: str
    name: str
    prefix: str
    create_time: datetime | None
    revoke_time: datetime | None


class TokenList(BaseModel):
    """An account's tokens."""

    tokens: list[Token]
