"""The services' messages as the bodies of our HTTP interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.scheduler.v1.scheduler_pb2 import JOB_STATE_CANCELLED, JOB_STATE_FAILED, JOB_STATE_FINISHED

from gateway.submissions import schemas
from gateway.submissions.end_frames import end_frame
from gateway.submissions.verdicts import final_status
from gateway.words.enum_names import (
    job_state_name,
    mode_name,
    posting_kind_name,
    timing_mode_word,
    timing_name,
    verdict_name,
)
from gateway.words.json_values import from_json, json_safe
from gateway.words.proto_time import instant_of, seconds_of
from vocabulary.money import dollars_of

if TYPE_CHECKING:
    from typing import Any

    from wavepool.billing.v1 import billing_pb2
    from wavepool.executor.v1.run_event_pb2 import Benchmarked
    from wavepool.scheduler.v1 import scheduler_pb2

OVER = frozenset({JOB_STATE_FINISHED, JOB_STATE_CANCELLED, JOB_STATE_FAILED})


def is_over(job: scheduler_pb2.Job) -> bool:
    """Whether the job has come to its end."""
    return job.state in OVER


def submission_path(job_id: str) -> str:
    """Where a submission is to be found."""
    return f"/api/v1/submissions/{job_id}"


def submission_of(job: scheduler_pb2.Job) -> schemas.Submission:
    """A job without code and result."""
    return schemas.Submission(**_submission_fields(job))


def submission_detail_of(job: scheduler_pb2.Job) -> schemas.SubmissionDetail:
    """A job with code and result."""
    result = None
    if is_over(job) and job.HasField("result"):
        result = json_safe(end_frame(job.spec.mode, job.state, job.result)[1])
    return schemas.SubmissionDetail(
        **_submission_fields(job),
        code=job.spec.source,
        launch_plan=from_json(job.spec.launch_plan) if job.spec.launch_plan else None,
        problem_def=job.spec.problem_def,
        result=result,
    )


def _submission_fields(job: scheduler_pb2.Job) -> dict[str, Any]:
    spec = job.spec
    over = is_over(job)
    return {
        "id": job.job_id,
        "problem": spec.problem,
        "mode": mode_name(spec.mode),
        "timing": timing_mode_word(spec.timing_mode),
        "gpu_type": spec.gpu_type,
        "fallback_gpu_types": list(spec.fallback_gpu_types),
        "dtype": spec.dtype,
        "language": spec.language,
        "priority": spec.priority,
        "state": job_state_name(job.state),
        "status": final_status(spec.mode, job.state, job.verdict) if over else None,
        "verdict": verdict_name(job.verdict) if job.verdict else None,
        **_timing_fields(job.result.benchmarked if over and job.result.HasField("benchmarked") else None),
        "message": job.message,
        "create_time": instant_of(job.create_time),
        "start_time": instant_of(job.start_time),
        "end_time": instant_of(job.end_time),
        "attempt": job.attempt,
        "machine_id": job.machine_id or None,
        "machine_gpu_type": job.machine_gpu_type or None,
        "cost_usd": dollars_of(job.cost_micros),
        "billable_seconds": seconds_of(job.result.billable) if over else None,
        "last_event_id": job.last_seq,
        "events_url": f"{submission_path(job.job_id)}/events",
    }


def _timing_fields(benchmarked: Benchmarked | None) -> dict[str, Any]:
    return {
        "timing_status": timing_name(benchmarked.timing) if benchmarked else None,
        "shown_interval": (benchmarked.shown_interval or None) if benchmarked else None,
    }


def problem_summary_of(problem: scheduler_pb2.ProblemSummary) -> schemas.ProblemSummary:
    """A problem of the catalogue."""
    return schemas.ProblemSummary(**_problem_fields(problem))


def problem_detail_of(answer: scheduler_pb2.GetProblemResponse) -> schemas.ProblemDetail:
    """A problem with its texts."""
    return schemas.ProblemDetail(**_problem_fields(answer.problem), statement=answer.statement, starter=answer.starter)


def _problem_fields(problem: scheduler_pb2.ProblemSummary) -> dict[str, Any]:
    return {
        "slug": problem.slug,
        "title": problem.title,
        "difficulty": problem.difficulty,
        "tags": list(problem.tags),
        "dtypes": list(problem.dtypes),
        "signature": problem.signature,
    }


def gpu_types_of(answer: billing_pb2.ListPricesResponse) -> schemas.GpuTypes:
    """The price list."""
    return schemas.GpuTypes(
        gpu_types=[
            schemas.GpuPrice(gpu_type=price.gpu_type, price_usd_per_hour=dollars_of(price.price_micros_per_hour))
            for price in answer.prices
        ]
    )


def costs_of(balance: billing_pb2.GetBalanceResponse, page: billing_pb2.ListPostingsResponse) -> schemas.Costs:
    """An account's credit and a page of its ledger."""
    return schemas.Costs(
        account_name=balance.account_name,
        granted_usd=dollars_of(balance.granted_micros),
        charged_usd=dollars_of(balance.charged_micros),
        held_usd=dollars_of(balance.held_micros),
        available_usd=dollars_of(balance.available_micros),
        alert_threshold_pct=balance.alert_threshold_permille / 10,
        alert_fired=balance.alert_fired,
        postings=[
            schemas.Posting(
                id=posting.posting_id,
                create_time=instant_of(posting.create_time),
                kind=posting_kind_name(posting.kind),
                amount_usd=dollars_of(posting.amount_micros),
                description=posting.description,
            )
            for posting in page.postings
        ],
        next_page_token=page.next_page_token,
    )


def token_of(token: billing_pb2.Token) -> schemas.Token:
    """A token without its secret."""
    return schemas.Token(
        id=token.token_id,
        name=token.name,
        prefix=token.prefix,
        create_time=instant_of(token.create_time),
        revoke_time=instant_of(token.revoke_time),
    )
