"""The bodies of our own HTTP interface, with the words that its documentation shows."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from gateway.modes import Endpoint, Mode

MAX_SOURCE_BYTES = 1024 * 1024
MAX_DEFINITION_BYTES = 256 * 1024
MAX_PLAN_BYTES = 64 * 1024

EXAMPLE_SOURCE = """#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
"""


def _checked_source(source: str) -> str:
    size_bytes = len(source.encode())
    if size_bytes > MAX_SOURCE_BYTES:
        raise ValueError(f"is {size_bytes} bytes long; at most {MAX_SOURCE_BYTES} are taken")
    return source


def _checked_definition(definition: str) -> str:
    size_bytes = len(definition.encode())
    if size_bytes > MAX_DEFINITION_BYTES:
        raise ValueError(f"is {size_bytes} bytes long; at most {MAX_DEFINITION_BYTES} are taken")
    return definition


def _checked_plan(plan: dict[str, Any]) -> dict[str, Any]:
    if len(plan_text(plan).encode()) > MAX_PLAN_BYTES:
        raise ValueError(f"is longer than {MAX_PLAN_BYTES} bytes of JSON")
    return plan


def plan_text(plan: dict[str, Any] | None) -> str:
    """A launch plan as the services take it."""
    return json.dumps(plan, ensure_ascii=False) if plan else ""


def _named_unless_sandbox(problem: str, info: ValidationInfo) -> str:
    """Neither sandbox nor definition has a problem. Those fields come first; where one is wrong, nothing is known."""
    how = info.data.get("mode", info.data.get("endpoint"))
    if (
        not problem
        and not info.data.get("problem_def", "unknown")
        and how is not None
        and how not in {Mode.SANDBOX, Endpoint.SANDBOX}
    ):
        raise PydanticCustomError("missing", "is required")
    return problem


ProblemSlug = Annotated[
    str,
    Field(max_length=100, validate_default=True, description="A slug of `GET /problems`; none for `sandbox`."),
    AfterValidator(_named_unless_sandbox),
]
ProblemDefinition = Annotated[
    str,
    Field(
        description="Python source of a problem class, at most 256 KiB, in place of the catalogue's problem. It is "
        "evaluated in a box on the machine that runs the submission; such results never rank."
    ),
    AfterValidator(_checked_definition),
]
LaunchPlan = Annotated[
    dict[str, Any] | None,
    Field(description="`code` is kernels only, and they are launched by this plan: see docs/contracts.md."),
    AfterValidator(lambda plan: _checked_plan(plan) if plan else plan),
]
Source = Annotated[str, Field(min_length=1, description="HIP source, at most 1 MiB."), AfterValidator(_checked_source)]


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
    gpu_type: Annotated[str, Field(max_length=40)] = "MI300X"
    dtype: Annotated[str, Field(max_length=40)] = "float32"
    language: Annotated[str, Field(max_length=40)] = "hip"
    priority: Annotated[int, Field(ge=-100, le=100, description="Higher runs first.")] = 0


class Submission(BaseModel):
    """A submission as it is now."""

    id: str
    problem: str
    mode: str
    gpu_type: str
    dtype: str
    language: str
    priority: int
    state: Annotated[
        str, Field(description="QUEUED, PROVISIONING, RUNNING, SETTLING, or over: FINISHED, CANCELLED, FAILED.")
    ]
    status: Annotated[str | None, Field(description="The status of the last event, once it is over.")]
    verdict: str | None
    message: str
    create_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    attempt: int
    machine_id: str | None
    cost_usd: Annotated[float, Field(description="Settled once it is over.")]
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
