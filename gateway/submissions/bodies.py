"""Bodies and lists of submissions, of our own and the seed-compatible routes, and their conversion to jobs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from google.protobuf.duration_pb2 import Duration
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError
from wavepool.executor.v1.run_event_pb2 import Verdict
from wavepool.scheduler.v1.scheduler_pb2 import GetJobRequest, JobOrder, JobSpec, JobState, ListJobsRequest
from wavepool.scheduler.v1.scheduler_pb2 import Resources as ResourcesMessage
from wavepool.submission.v1.submission_pb2 import Submission

from gateway.submissions.machine_use import MachineUse, body_of_machine_use
from gateway.submissions.resources import Resources, body_of_resources, of_annotations
from gateway.words.answer_words import FinalStatusName, JobStateName, VerdictName
from gateway.words.enum_names import mode_name, timing_mode_word
from gateway.words.gpu_type_field import GpuType
from gateway.words.proto_time import RequestInstant, ZonedInstant, timestamp_of
from submissions.checks import LANGUAGE, MOST_BYTES
from submissions.modes import Mode, TimingMode, timing_number
from submissions.visibility import Visibility
from vocabulary.limits import DEFAULT_DTYPE, MAX_PRIORITY, MIN_PRIORITY
from vocabulary.names import none_of

MOST_SECONDS = 7 * 24 * 3600
"""More than any queue allows, so that the scheduler names the queue's own limit."""
EXAMPLE_SOURCE = """#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
"""


class Endpoint(StrEnum):
    """The seed's names of modes."""

    CHECKER = "checker"
    BENCHMARK = "benchmark"
    FULL = "full"
    SAMPLE = "sample"
    SANDBOX = "sandbox"

    @property
    def mode(self) -> Mode:
        """Our mode of that name."""
        return Mode.CHECK if self is Endpoint.CHECKER else Mode(self.value)


def _checked_source(source: str) -> str:
    return _checked_size(source, MOST_BYTES["source"])


def _checked_definition(definition: str) -> str:
    return _checked_size(definition, MOST_BYTES["problem_definition"])


def _checked_size(text: str, most_bytes: int) -> str:
    """Raises ValueError if the text is too large, so that it does not travel to the scheduler first."""
    size_bytes = len(text.encode())
    if size_bytes > most_bytes:
        raise ValueError(f"is {size_bytes} bytes long; at most {most_bytes} are taken")
    return text


def _checked_plan(plan: dict[str, Any] | None) -> dict[str, Any] | None:
    most_bytes = MOST_BYTES["launch_plan"]
    if len(_plan_text(plan).encode()) > most_bytes:
        raise ValueError(f"is longer than {most_bytes} bytes of JSON")
    return plan


def _plan_text(plan: dict[str, Any] | None) -> str:
    return json.dumps(plan, ensure_ascii=False) if plan else ""


def _named_unless_sandbox(problem: str, info: ValidationInfo) -> str:
    """Requires a problem unless the mode is sandbox or a definition comes along; those fields are validated first."""
    how = info.data.get("mode", info.data.get("endpoint"))
    if (
        not problem
        and not info.data.get("problem_def", "unknown")
        and how is not None
        and how not in {Mode.SANDBOX, Endpoint.SANDBOX}
    ):
        raise PydanticCustomError("missing", "is required")
    return problem


def _checked_timing(timing: object) -> object:
    """Treats an empty text as left out; raises ValueError with the nearest name if it is no timing mode."""
    if timing is None or timing == "":
        return None
    if isinstance(timing, str) and timing in set(TimingMode):
        return timing
    raise ValueError(none_of(str(timing), list(TimingMode)))


_Word = Annotated[str, Field(max_length=40)]
_Source = Annotated[str, Field(min_length=1, description="HIP source, at most 1 MiB."), AfterValidator(_checked_source)]
_ProblemSlug = Annotated[
    str,
    Field(max_length=100, validate_default=True, description="A slug from `GET /problems`; empty for `sandbox`."),
    AfterValidator(_named_unless_sandbox),
]
_Definition = Annotated[
    str,
    Field(
        description="Python source of a problem class, at most 256 KiB, in place of the catalogue's problem. It is "
        "evaluated in a sandbox on the machine that runs the submission; such results never rank."
    ),
    AfterValidator(_checked_definition),
]
_FallbackGpuTypes = Annotated[
    list[_Word],
    Field(
        max_length=8,
        description="GPU types to use, in order of preference, if no machine of `gpu_type` is free. The credit on hold "
        "covers the dearest of all; you pay for the type that ran it, `machine_gpu_type`.",
    ),
]


def _checked_annotations(annotations: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    if of_annotations(annotations) and info.data.get("resources"):
        raise ValueError("ask for GPUs as well as `resources`; remove one of them")
    return annotations


class _Body(BaseModel):
    """Fields that every body of a submission may have."""

    field_names: ClassVar[dict[str, str]] = {
        "source": "code",
        "problem_definition": "problem_def",
        "timing_mode": "timing",
        "time_limit": "time_limit_seconds",
        "job_class": "class",
        "resources.least_gpus": "resources.gpus.min",
    }
    """The client's names of the messages' fields, if they differ."""

    gpu_type: GpuType = ""
    queue: Annotated[str, Field(max_length=63, description="Default: `default`. `GET /queues` lists them.")] = ""
    time_limit_seconds: Annotated[
        int | None,
        Field(
            ge=1,
            le=MOST_SECONDS,
            description="The time limit of the run, for which credit is held. Default: the queue's.",
        ),
    ] = None
    deadline: Annotated[
        ZonedInstant | None,
        Field(
            description="RFC 3339 with a zone. If it still waits when it can no longer end by then (now and its time "
            "limit), it is cancelled, and nothing is charged."
        ),
    ] = None
    machine: Annotated[MachineUse | None, Field(description="Default: any machine.")] = None
    job_class: Annotated[
        str, Field(alias="class", max_length=63, description="A class of the queue. Default: the queue's default.")
    ] = ""
    placement: Annotated[
        str,
        Field(max_length=63, description="`pack`: the fullest machine. `spread`: the emptiest. Default: the queue's."),
    ] = ""
    movable: Annotated[
        bool,
        Field(
            strict=True,
            description="A run may be stopped, and start again elsewhere, if a larger one can start then; nothing is "
            "charged for what was stopped. For whole GPUs, and for modes that time nothing.",
        ),
    ] = False
    name: Annotated[str, Field(max_length=100, description="For people, such as the file's; need not be unique.")] = ""
    fallback_gpu_types: _FallbackGpuTypes = []
    resources: Annotated[Resources | None, Field(description="Default: one whole GPU.")] = None
    annotations: Annotated[
        dict[str, str],
        Field(
            max_length=100,
            description="Kaiwo's: `kaiwo.ai/gpu-fraction`, `gpu-memory` (MiB), `gpu-sharing` and `gpu-isolation`, in "
            "place of `resources`. Others are ignored.",
        ),
        AfterValidator(_checked_annotations),
    ] = {}
    language: _Word = LANGUAGE

    def job_spec(self, mode: Mode, source: str, problem: str = "", priority: int = 0) -> JobSpec:
        """The job for this body."""
        return JobSpec(
            submission=Submission(
                mode=mode.number, source=source, problem=problem, language=self.language, **self._for_a_solution()
            ),
            gpu_type=self.gpu_type,
            fallback_gpu_types=self.fallback_gpu_types,
            priority=priority,
            queue=self.queue,
            time_limit=Duration(seconds=self.time_limit_seconds) if self.time_limit_seconds else None,
            resources=self._resources(),
            job_class=self.job_class,
            placement=self.placement,
            movable=self.movable,
            name=self.name,
            deadline=timestamp_of(self.deadline),
            machine=self.machine.to_proto() if self.machine else None,
        )

    def _resources(self) -> ResourcesMessage | None:
        resources = self.resources or of_annotations(self.annotations)
        return resources.to_proto() if resources else None

    def _for_a_solution(self) -> dict[str, Any]:
        return {}


class _SolutionBody(_Body):
    """Fields of all bodies except the ones only for whole programs."""

    problem_def: _Definition = ""
    launch_plan: Annotated[
        dict[str, Any] | None,
        Field(description="`code` is kernels only, and they are launched by this plan: see docs/contracts.md."),
        AfterValidator(_checked_plan),
    ] = None
    timing: Annotated[
        TimingMode | None,
        BeforeValidator(_checked_timing),
        Field(
            description="How `benchmark` and `full` time calls. `cold`: caches are swept before each. `hot`: they are "
            "as the new inputs left them. `first-call`: one in a fresh process. Default: `cold` on GPUs, `hot` on "
            "`cpu`."
        ),
    ] = None
    profile: Annotated[
        bool,
        Field(
            strict=True,
            description="After verdict and timing, profile the kernels of the largest test case (`check`, `benchmark` "
            "and `full`; docs/profiling.md). The time is charged.",
        ),
    ] = False
    dtype: _Word = DEFAULT_DTYPE

    def _for_a_solution(self) -> dict[str, Any]:
        return {
            "problem_definition": self.problem_def,
            "launch_plan": _plan_text(self.launch_plan),
            "timing_mode": timing_number(self.timing),
            "profile": self.profile,
            "dtype": self.dtype,
        }


class SubmissionRequest(_SolutionBody):
    """A submission: its source, its problem and how to run it."""

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
    problem: _ProblemSlug = ""
    code: _Source
    priority: Annotated[
        int,
        Field(
            strict=True,
            ge=MIN_PRIORITY,
            le=MAX_PRIORITY,
            description="Each point is worth some waiting; above the queue's `max_priority` for administrators.",
        ),
    ] = 0

    @property
    def spec(self) -> JobSpec:
        """The job for this body."""
        return self.job_spec(self.mode, self.code, self.problem, self.priority)


def body_of(spec: JobSpec) -> dict[str, Any]:
    """The body of a SubmissionRequest that submits a job again; its deadline, which may be over, is left out."""
    submission = spec.submission
    said = {
        "name": spec.name,
        "problem_def": submission.problem_definition,
        "launch_plan": json.loads(submission.launch_plan) if submission.launch_plan else None,
        "timing": timing_mode_word(submission.timing_mode),
        "profile": submission.profile,
        "gpu_type": spec.gpu_type,
        "fallback_gpu_types": list(spec.fallback_gpu_types),
        "queue": spec.queue,
        "time_limit_seconds": spec.time_limit.seconds,
        "class": spec.job_class,
        "placement": spec.placement,
        "movable": spec.movable,
        "priority": spec.priority,
        "resources": body_of_resources(spec.resources),
        "machine": body_of_machine_use(spec.machine),
    }
    always = {
        "mode": mode_name(submission.mode),
        "problem": submission.problem,
        "code": submission.source,
        "dtype": submission.dtype,
        "language": submission.language,
    }
    return always | {name: value for name, value in said.items() if value}


class AmdSubmitRequest(_SolutionBody):
    """A submission in the form of the AMD runner; unknown fields are ignored, as they were there."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"solution_code": EXAMPLE_SOURCE, "problem": "vector-addition"}]}
    )
    field_names: ClassVar[dict[str, str]] = _Body.field_names | {
        "source": "solution_code",
        "mode": "endpoint",
        "idempotency_key": "submission_id",
    }

    endpoint: Endpoint = Endpoint.FULL
    problem_def: Annotated[_Definition, BeforeValidator(lambda definition: definition or "")] = ""
    problem: _ProblemSlug = ""
    solution_code: _Source
    submission_id: Annotated[str, Field(max_length=200, description="An idempotency key.")] = ""

    @property
    def spec(self) -> JobSpec:
        """The job for this body."""
        spec = self.job_spec(self.endpoint.mode, self.solution_code, self.problem)
        if self.endpoint is Endpoint.SANDBOX:
            # Scripts send some problem's definition even with a whole program.
            spec.submission.ClearField("problem_definition")
        return spec


_TENSARA_NAMES = _Body.field_names | {
    "problem": "problemSlug",
    "gpu_type": "gpuType",
    "fallback_gpu_types": "fallbackGpuTypes",
}


class DirectSubmitRequest(_SolutionBody):
    """A submission in the form of Tensara's web application; unknown fields are ignored."""

    field_names: ClassVar[dict[str, str]] = _TENSARA_NAMES

    problem_slug: Annotated[str, Field(alias="problemSlug", min_length=1, max_length=100)]
    code: _Source
    gpu_type: Annotated[GpuType, Field(alias="gpuType")] = ""
    fallback_gpu_types: Annotated[_FallbackGpuTypes, Field(alias="fallbackGpuTypes")] = []


class SandboxRequest(_Body):
    """A whole program in the form of Tensara's web application."""

    field_names: ClassVar[dict[str, str]] = _TENSARA_NAMES

    code: _Source
    gpu_type: Annotated[GpuType, Field(alias="gpuType")] = ""
    fallback_gpu_types: Annotated[_FallbackGpuTypes, Field(alias="fallbackGpuTypes")] = []


class SubmissionChange(BaseModel):
    """A change of a submission; a field that is left out or null stays."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str | None, Field(max_length=100, description="For people; empty: none.")] = None
    visibility: Annotated[
        Visibility | None,
        Field(
            description="`private`: only your account sees it. `link`: every user who knows its id reads its code, "
            "result, ISA and events. `public`: the same, and rankings give its id. Its cost, account and queue stay "
            "yours."
        ),
    ] = None


class SubmissionOrder(StrEnum):
    """The order of a list of submissions."""

    NEWEST = "newest"
    FASTEST = "fastest"

    @property
    def number(self) -> JobOrder.ValueType:
        """The proto's number of the order."""
        return JobOrder.Value(f"JOB_ORDER_{self.name}")


class SubmissionQuery(BaseModel):
    """Which submissions a list is to have. A filter that may be given several times has all that fit one of them."""

    page_size: Annotated[int, Field(ge=1, le=200)] = 20
    page_token: Annotated[str, Field(max_length=500, description="The `next_page_token` of the page before.")] = ""
    problem: Annotated[str, Field(max_length=100, description="Only submissions for this problem.")] = ""
    account_id: Annotated[
        str, Field(max_length=100, description="Another account that you may see, such as a team's; an id.")
    ] = ""
    everybody: Annotated[bool, Field(description="Those of all accounts; needs the scope `operate` or `admin`.")] = (
        False
    )
    user_id: Annotated[str, Field(max_length=100, description="Only submissions of this user; an id.")] = ""
    state: Annotated[list[JobStateName], Field(description="Only those in this state; may be repeated.")] = []
    verdict: Annotated[
        list[VerdictName], Field(description="Only those that are over with this verdict; may be repeated.")
    ] = []
    status: Annotated[
        list[FinalStatusName],
        Field(description="Only those that are over with this `status`; may be repeated."),
    ] = []
    mode: Annotated[list[Mode], Field(description="Only those in this mode; may be repeated.")] = []
    gpu_type: Annotated[
        str,
        Field(max_length=40, description="Only those that ran on this GPU type or on `cpu`, or want it; in any case."),
    ] = ""
    dtype: Annotated[str, Field(max_length=40, description="Only those in this element type.")] = ""
    comparable_to: Annotated[
        str,
        Field(max_length=100, description="Only those that `GET /comparisons` compares with this submission; an id."),
    ] = ""
    sort: Annotated[
        SubmissionOrder,
        Field(
            description="`fastest`: proven times first, then other times, each with the shortest first, then those "
            "without a time; needs `problem` or `comparable_to`."
        ),
    ] = SubmissionOrder.NEWEST
    queue: Annotated[str, Field(max_length=100, description="Only submissions of this queue.")] = ""
    since: Annotated[RequestInstant | None, Field(description="Only those submitted then or later.")] = None
    until: Annotated[RequestInstant | None, Field(description="Only those submitted before.")] = None

    def request(self, account_id: str, visible_account_ids: Sequence[str]) -> ListJobsRequest:
        """The scheduler's form of it, for an account; the submission to compare with is of a visible one."""
        base = GetJobRequest(account_ids=visible_account_ids, job_id=self.comparable_to, or_shared=True)
        return ListJobsRequest(
            account_id=account_id,
            page_size=self.page_size,
            page_token=self.page_token,
            problem=self.problem,
            user_id=self.user_id,
            states=[JobState.Value(f"JOB_STATE_{one}") for one in self.state],
            verdicts=[Verdict.Value(f"VERDICT_{one}") for one in self.verdict],
            modes=[one.number for one in self.mode],
            queue=self.queue,
            begin_time=timestamp_of(self.since),
            end_time=timestamp_of(self.until),
            statuses=self.status,
            gpu_type=self.gpu_type,
            dtype=self.dtype,
            comparable_to=base if self.comparable_to else None,
            order=self.sort.number,
            with_total=True,
        )
