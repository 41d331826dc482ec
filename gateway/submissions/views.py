"""Submissions as HTTP shows them."""

from __future__ import annotations

from datetime import datetime
from math import inf, isfinite
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from wavepool.executor.v1.run_event_pb2 import Benchmarked, Finished
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.scheduler.v1.scheduler_pb2 import JOB_STATE_CANCELLED, JOB_STATE_FAILED, JOB_STATE_FINISHED

from gateway.submissions.bodies import SubmissionRequest, body_of
from gateway.submissions.end_frames import end_frame
from gateway.submissions.event_schemas import KernelIsa, RuntimeInterval, SubmissionResult
from gateway.submissions.machine_use import AdmittedMachineUse, admitted_machine_use
from gateway.submissions.resources import AdmittedResources, admitted_resources
from gateway.submissions.verdicts import final_status
from gateway.words.answer_words import Documented, FinalStatusWord, JobStateWord, TimingWord, VerdictWord
from gateway.words.enum_names import timing_mode_word, timing_name, visibility_word
from gateway.words.json_values import from_json, json_safe
from gateway.words.proto_time import seconds_of
from gateway.words.shown import NS_PER_MS, fields_of, shown
from submissions.modes import Mode, TimingMode
from submissions.visibility import Visibility
from vocabulary.slots import EIGHTHS_PER_GPU

OVER = frozenset({JOB_STATE_FINISHED, JOB_STATE_CANCELLED, JOB_STATE_FAILED})


class SharedFields(BaseModel):
    """Fields of a submission that other users see as well if its owner shares it."""

    id: str
    name: Annotated[str | None, Field(description="As its user gave it; null: none.")]
    visibility: Annotated[
        Annotated[str, Documented(Visibility)], Field(description="Who may see it beside its account.")
    ]
    problem: str
    mode: Annotated[str, Documented(Mode)]
    timing: Annotated[
        Annotated[str, Documented(TimingMode)] | None, Field(description="As requested; null: the device's default.")
    ]
    profile: Annotated[
        bool, Field(description="Whether its kernels were to be profiled; `profile` of the last event has them.")
    ]
    gpu_type: Annotated[str, Field(description="As requested; `hardware` is what it ran on.")]
    hardware: Annotated[
        str | None,
        Field(
            description="The GPU type that it ran on, or `cpu` if its machine runs kernels on the processor, whatever "
            "was requested. Null until it has a machine."
        ),
    ]
    dtype: str
    language: str
    state: JobStateWord
    status: Annotated[FinalStatusWord | None, Field(description="The status of the last event, once it has ended.")]
    verdict: VerdictWord | None
    timing_status: Annotated[
        TimingWord | None, Field(description="As `timing` of the last event; null where nothing was timed.")
    ]
    shown_interval: Annotated[
        float | None,
        Field(
            description="Half the width of the interval over the time, to be shown beside UNSTABLE: on a device whose "
            "times never rank it is above 0.05. Else null."
        ),
    ]
    runtime_ms: Annotated[float | None, Field(description="The geometric mean of the cases; null: it has no time.")]
    runtime_interval: RuntimeInterval
    gflops: Annotated[float | None, Field(description="The geometric mean of the cases; null: it has no time.")]
    passed_tests: Annotated[int | None, Field(description="Null: it has not ended, or had no tests.")]
    total_tests: int | None
    message: str
    create_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    machine_gpu_type: Annotated[
        str | None, Field(description="Which of the requested GPU types it got, once it has a machine.")
    ]
    last_event_id: int
    events_url: str


class CodeFields(BaseModel):
    """The texts of a submission."""

    code: str
    launch_plan: Annotated[dict[str, Any] | None, Field(description="Of a submission that has kernels only.")]
    problem_def: Annotated[str, Field(description="Of a submission with a problem of its own; else empty.")]


class Submission(SharedFields):
    """A submission as it is now."""

    account_id: Annotated[str, Field(description="The account that it charges.")]
    user_id: Annotated[str | None, Field(description="Who submitted it; null: from before there were users.")]
    fallback_gpu_types: list[str]
    priority: int
    queue: str
    time_limit_seconds: int | None
    resources: AdmittedResources
    job_class: Annotated[str | None, Field(alias="class", description="A class of its queue; null: none.")]
    placement: Annotated[str | None, Field(description="How its machine is chosen; null: as its queue says.")]
    movable: Annotated[bool, Field(description="Its run may be stopped, and start again on another machine.")]
    machine: AdmittedMachineUse
    deadline: Annotated[datetime | None, Field(description="It must end by then, or is cancelled; null: no deadline.")]
    attempt: int
    machine_id: str | None
    got_gpus: Annotated[
        float | None, Field(description="GPUs that the current or last attempt got and is charged for; null before.")
    ]
    cost_usd: Annotated[float, Field(description="Final once it has ended.")]
    billable_seconds: Annotated[float | None, Field(description="The time that is charged for, once it has ended.")]


class NewSubmission(Submission):
    """A submission that was just made."""

    remaining_submissions: Annotated[
        int,
        Field(description="How many more submissions the account may make now; `GET /api/v1/limits` has the limits."),
    ]


class SubmissionQuote(BaseModel):
    """The cost and the wait of a submission that is not made."""

    gpu_type: str
    fallback_gpu_types: list[str]
    resources: AdmittedResources
    queue: str
    time_limit_seconds: int | None
    hold_usd: Annotated[float, Field(description="Credit that it would put on hold: the most that it can cost.")]
    position: Annotated[int, Field(description="In the queue, from 1.")]
    eta_p50: Annotated[float | None, Field(description="Expected seconds until it would start; null: not known.")]
    eta_p90: Annotated[float | None, Field(description="It would start within so many seconds in 9 of 10 cases.")]
    estimate_basis: Annotated[str, Field(description="The origin of the estimate, or the reason why there is none.")]
    remaining_submissions: Annotated[int, Field(description="How many submissions the account may make now.")]


class SubmissionDetail(Submission, CodeFields):
    """A submission with its code, and its result once it is over."""

    own: Annotated[Literal[True], Field(description="It is of an account that you see.")] = True
    result: Annotated[
        Annotated[dict[str, Any], Documented(SubmissionResult)] | None,
        Field(description="The fields of the last event; null before."),
    ]
    request: Annotated[
        dict[str, Any],
        Documented(SubmissionRequest),
        Field(description="The body of `POST /submissions` that submits it again, without its deadline."),
    ]


class OverseenSubmission(Submission):
    """A submission of another account, without its code and its result, for operators and administrators."""

    own: Annotated[Literal[False], Field(description="It is of an account that you do not see.")] = False
    overseen: Annotated[Literal[True], Field(description="You see it because your token may operate the pool.")]


class SubmissionIsa(BaseModel):
    """The MI300X compiler's output for a submission, whatever device it ran on."""

    id: str
    isa: Annotated[dict[str, KernelIsa], Field(description="By kernel.")]
    isa_toolchain: str | None
    isa_note: Annotated[str | None, Field(description="Why there is no report, or notes on it.")]
    listing: Annotated[str, Field(description="The instructions below their source lines; at most 256 KiB.")]


class ReportSignature(BaseModel):
    """A signature by the key of a machine."""

    keyid: Annotated[str, Field(description="The public key, Ed25519, in hex.")]
    sig: Annotated[str, Field(description="In base64.")]


class SignedReport(BaseModel):
    """A DSSE envelope, which `wavepool verify` checks."""

    payloadType: str  # noqa: N815 - DSSE's name
    payload: Annotated[str, Field(description="In base64: the report, as JSON.")]
    signatures: list[ReportSignature]


class SubmissionPage(BaseModel):
    """A page of submissions, newest first."""

    submissions: list[Submission]
    next_page_token: Annotated[str, Field(description="Empty on the last page.")]
    total: Annotated[
        int | None,
        Field(
            description="The number of all that fit, on the first page. Null on later ones, with `comparable_to`, and "
            "if there are more than 1,000."
        ),
    ]


def is_over(job: scheduler_pb2.Job) -> bool:
    """True if the job is over."""
    return job.state in OVER


def submission_path(job_id: str) -> str:
    """URL path of a submission."""
    return f"/api/v1/submissions/{job_id}"


def submission_of(job: scheduler_pb2.Job) -> Submission:
    """A job without code and result."""
    return Submission(**_submission_fields(job))


def new_submission_of(answer: scheduler_pb2.SubmitJobResponse) -> NewSubmission:
    """The job of a submission that was just made."""
    return NewSubmission(**_submission_fields(answer.job), remaining_submissions=answer.allowance.remaining_submissions)


def submission_detail_of(job: scheduler_pb2.Job) -> SubmissionDetail:
    """A job with code and result."""
    result, submission = None, job.spec.submission
    if is_over(job) and job.HasField("result"):
        result = json_safe(end_frame(job.spec.submission.mode, job.state, job.result)[1])
    return SubmissionDetail(
        **_submission_fields(job),
        code=submission.source,
        launch_plan=from_json(submission.launch_plan) if submission.launch_plan else None,
        problem_def=submission.problem_definition,
        result=result,
        request=body_of(job.spec),
    )


def overseen_submission_of(job: scheduler_pb2.Job) -> OverseenSubmission:
    """A job of another account, for those who oversee."""
    return OverseenSubmission(**_submission_fields(job), overseen=True)


def quote_of(answer: scheduler_pb2.SubmitJobResponse) -> SubmissionQuote:
    """The quote that the scheduler gives for a submission."""
    spec = answer.job.spec
    return shown(
        SubmissionQuote,
        answer.quote,
        spec,
        answer.allowance,
        resources=admitted_resources(spec.resources),
        time_limit_seconds=spec.time_limit.seconds or None,
    )


def _submission_fields(job: scheduler_pb2.Job) -> dict[str, Any]:
    spec, submission = job.spec, job.spec.submission
    over = is_over(job)
    return fields_of(
        Submission,
        job,
        spec,
        submission,
        visibility=visibility_word(job.visibility),
        timing=timing_mode_word(submission.timing_mode),
        time_limit_seconds=spec.time_limit.seconds or None,
        resources=admitted_resources(spec.resources),
        machine=admitted_machine_use(spec.machine),
        status=final_status(submission.mode, job.state, job.verdict) if over else None,
        **_timing_fields(job, job.result.benchmarked if over and job.result.HasField("benchmarked") else None),
        **_test_fields(job.result if over else Finished()),
        got_gpus=job.got_eighths / EIGHTHS_PER_GPU if job.got_eighths else None,
        billable_seconds=seconds_of(job.result.billable) if over else None,
        last_event_id=job.last_seq,
        events_url=f"{submission_path(job.job_id)}/events",
    )


def _timing_fields(job: scheduler_pb2.Job, benchmarked: Benchmarked | None) -> dict[str, Any]:
    timed = benchmarked or Benchmarked()
    has_time = 0 < timed.mean_runtime_ns < inf
    return {
        "timing_status": timing_name(timed.timing) if benchmarked else None,
        "shown_interval": timed.shown_interval or None,
        "runtime_ms": timed.mean_runtime_ns / NS_PER_MS if has_time else None,
        "runtime_interval": job.mean_interval or None if has_time else None,
        "gflops": timed.mean_gflops if has_time and isfinite(timed.mean_gflops) else None,
    }


def _test_fields(result: Finished) -> dict[str, Any]:
    total = result.total_tests
    return {"passed_tests": result.passed_tests if total else None, "total_tests": total or None}
