"""`/api/v1/submissions`: submit, list, get, follow, cancel."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from wavepool.scheduler.v1.scheduler_pb2 import Job, Visibility

from gateway.dependencies import STREAM_PLACE, TheAccount, TheGateway, TheSender, TheSubmitter
from gateway.http.errors import Problem, ProblemError
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import NOTHING_LEFT, STREAM, problems
from gateway.http.sse import resume_point
from gateway.routes.identity_calls import call
from gateway.submissions import account_jobs
from gateway.submissions.allowance import rate_limit_headers
from gateway.submissions.bodies import SubmissionChange, SubmissionQuery, SubmissionRequest
from gateway.submissions.compilation import compiled_of, listing_of
from gateway.submissions.run_frames import isa_fields
from gateway.submissions.samples import SubmissionSamples, samples_of
from gateway.submissions.sharing import SharedSubmission, shared_submission_of
from gateway.submissions.views import (
    NewSubmission,
    OverseenSubmission,
    SignedReport,
    Submission,
    SubmissionDetail,
    SubmissionIsa,
    SubmissionPage,
    SubmissionQuote,
    is_over,
    new_submission_of,
    overseen_submission_of,
    quote_of,
    submission_detail_of,
    submission_of,
    submission_path,
)

router = APIRouter(prefix="/submissions", tags=["submissions"], route_class=JsonRoute)


@router.post("", status_code=202, responses=problems(402, 403, 404, 409, 429))
async def create_submission(
    body: SubmissionRequest,
    response: Response,
    account: TheSender,
    gateway: TheGateway,
    idempotency_key: Annotated[
        str, Header(max_length=200, description="A repeated key with the same content gives the first submission.")
    ] = "",
) -> NewSubmission:
    """Put a submission in the queue. Follow it at the `events_url` of the answer."""
    answer = await account_jobs.submit(gateway.upstreams, account, body.spec, body.field_names, idempotency_key)
    gateway.recent_jobs.put(answer.job)
    response.headers.update({"Location": submission_path(answer.job.job_id), **rate_limit_headers(answer.allowance)})
    return new_submission_of(answer)


@router.post("/quote", responses=problems(402, 403, 404, 409))
async def quote_submission(body: SubmissionRequest, account: TheSubmitter, gateway: TheGateway) -> SubmissionQuote:
    """Check and price a submission without making it. Its source is compiled only when it runs."""
    return quote_of(
        await account_jobs.submit(gateway.upstreams, account, body.spec, body.field_names, validate_only=True)
    )


@router.get("", responses=problems(404, 409))
async def list_submissions(
    account: TheAccount, gateway: TheGateway, query: Annotated[SubmissionQuery, Query()]
) -> SubmissionPage:
    """List the submissions of your token's account, newest first or fastest first.

    Operators and administrators may name any account, or ask for those of all with `everybody`.
    """
    if query.everybody:
        account.require("operate", "admin")
    if query.account_id and not (account.sees(query.account_id) or account.oversees):
        raise ProblemError(Problem(404, f"There is no account {query.account_id}, or it is not yours."))
    account_id = query.account_id or ("" if query.everybody else account.account_id)
    request = query.request(account_id, sorted(account.visible_account_ids))
    names = {"begin_time": "since", "end_time": "until", "statuses": "status", "order": "sort"}
    page = await call(gateway.upstreams.scheduler.ListJobs, request, names)
    return SubmissionPage(
        submissions=[submission_of(job) for job in page.jobs],
        next_page_token=page.next_page_token,
        total=page.total if page.HasField("total") else None,
    )


@router.get("/{submission_id}", responses=problems(404))
async def get_submission(
    submission_id: str, account: TheAccount, gateway: TheGateway
) -> SubmissionDetail | SharedSubmission | OverseenSubmission:
    """Get one submission with its code, and its result once it has ended; of another account's, what is shared.

    Of those that are not shared with them, operators and administrators get all but code and result.
    """
    job = await account_jobs.job_of(gateway.upstreams, account, submission_id, or_shared=True, or_overseen=True)
    if account.sees(job.account_id):
        return submission_detail_of(job)
    is_private = job.visibility in {Visibility.VISIBILITY_UNSPECIFIED, Visibility.VISIBILITY_PRIVATE}
    return overseen_submission_of(job) if is_private else shared_submission_of(job)


@router.patch("/{submission_id}", responses=problems(403, 404))
async def update_submission(
    submission_id: str, body: SubmissionChange, account: TheSubmitter, gateway: TheGateway
) -> Submission:
    """Change a submission's name, or who else may see it."""
    return submission_of(await account_jobs.update(gateway.upstreams, account, submission_id, body))


@router.get(
    "/{submission_id}/events",
    response_class=Response,
    dependencies=[STREAM_PLACE],
    responses={**STREAM, **NOTHING_LEFT, **problems(404)},
)
async def stream_submission_events(
    submission_id: str,
    account: TheAccount,
    gateway: TheGateway,
    last_event_id: Annotated[str | None, Header(description="Resume after the event with this id.")] = None,
    after: Annotated[str | None, Query(description="The same, where headers cannot be set.")] = None,
) -> Response:
    """Stream a submission's events until its last. Closing the stream cancels nothing."""
    after_seq = resume_point(last_event_id, after)
    job = await gateway.job_to_follow(account, submission_id, from_start=after_seq == 0)
    if is_over(job) and after_seq >= job.last_seq:
        # On 204, a browser's EventSource stops reconnecting.
        return Response(status_code=204, media_type="text/event-stream")
    return gateway.stream(job, after_seq, still_shared=gateway.still_shared(account, job))


@router.get("/{submission_id}/isa", responses=problems(404))
async def get_submission_isa(submission_id: str, account: TheAccount, gateway: TheGateway) -> SubmissionIsa:
    """Get the MI300X's instructions for a compiled submission, with source lines, and a report on each kernel."""
    job = await account_jobs.job_of(gateway.upstreams, account, submission_id, or_shared=True)
    compiled = await compiled_of(gateway.upstreams, job)
    if compiled is None:
        why = "it did not compile" if is_over(job) else "it is not compiled yet"
        raise ProblemError(Problem(404, f"Submission {submission_id} has no ISA: {why}."))
    return SubmissionIsa(id=submission_id, listing=listing_of(compiled), **isa_fields(compiled.isa))


@router.get("/{submission_id}/samples", responses=problems(404))
async def get_submission_samples(
    submission_id: str,
    account: TheAccount,
    gateway: TheGateway,
    test_id: Annotated[int | None, Query(description="Only this test case, from 1. Default: all.")] = None,
) -> SubmissionSamples:
    """Get every sample of a submission's benchmark in order, once it has ended, and the readings of instruments."""
    return samples_of(await account_jobs.job_of(gateway.upstreams, account, submission_id, or_shared=True), test_id)


@router.get("/{submission_id}/report", response_model=SignedReport, responses=problems(404))
async def get_submission_report(submission_id: str, account: TheAccount, gateway: TheGateway) -> Response:
    """Get the signed report of a submission that has ended: a DSSE envelope, which `wavepool verify` checks."""
    job = await account_jobs.job_of(gateway.upstreams, account, submission_id)
    if not job.result.signed_report:
        raise ProblemError(Problem(404, f"Submission {submission_id} has no report: {_why_no_report(job)}."))
    return Response(job.result.signed_report, media_type="application/json")


@router.post("/{submission_id}/cancel", status_code=202, responses=problems(404))
async def cancel_submission(submission_id: str, account: TheSubmitter, gateway: TheGateway) -> Submission:
    """End a submission in any state, which may take a moment. One that has ended is not changed.

    Operators and administrators may end anybody's.
    """
    return submission_of(await account_jobs.cancel(gateway.upstreams, account, submission_id))


def _why_no_report(job: Job) -> str:
    return "it ended before there was anything to report" if is_over(job) else "it has not ended yet"
