"""`/api/submissions/*`, as Tensara's web application uses them."""

from __future__ import annotations

from fastapi import APIRouter, Response
from wavepool.scheduler.v1.scheduler_pb2 import JobSpec

from gateway.dependencies import STREAM_PLACE, TheGateway, TheSender, TheSubmitter
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import STREAM, problems
from gateway.submissions import account_jobs
from gateway.submissions.bodies import DirectSubmitRequest, SandboxRequest
from gateway.submissions.seed_schemas import CancelAnswer, CancelRequest
from gateway.submissions.views import is_over, submission_of
from submissions.modes import Mode

router = APIRouter(prefix="/api/submissions", tags=["seed-compatible"], route_class=JsonRoute)


@router.post(
    "/direct-submit",
    response_class=Response,
    dependencies=[STREAM_PLACE],
    responses=STREAM | problems(402, 404, 409, 429),
)
async def direct_submit(body: DirectSubmitRequest, account: TheSender, gateway: TheGateway) -> Response:
    """Check and measure a submission that counts."""
    return await _submit(body, Mode.FULL, account, gateway)


@router.post(
    "/checker", response_class=Response, dependencies=[STREAM_PLACE], responses=STREAM | problems(402, 404, 409, 429)
)
async def direct_check(body: DirectSubmitRequest, account: TheSender, gateway: TheGateway) -> Response:
    """Check a submission."""
    return await _submit(body, Mode.CHECK, account, gateway)


@router.post(
    "/benchmark", response_class=Response, dependencies=[STREAM_PLACE], responses=STREAM | problems(402, 404, 409, 429)
)
async def direct_benchmark(body: DirectSubmitRequest, account: TheSender, gateway: TheGateway) -> Response:
    """Check and measure a submission."""
    return await _submit(body, Mode.BENCHMARK, account, gateway)


@router.post(
    "/sample", response_class=Response, dependencies=[STREAM_PLACE], responses=STREAM | problems(402, 404, 409, 429)
)
async def direct_sample(body: DirectSubmitRequest, account: TheSender, gateway: TheGateway) -> Response:
    """Show one small case."""
    return await _submit(body, Mode.SAMPLE, account, gateway)


@router.post(
    "/sandbox", response_class=Response, dependencies=[STREAM_PLACE], responses=STREAM | problems(402, 409, 429)
)
async def direct_sandbox(body: SandboxRequest, account: TheSender, gateway: TheGateway) -> Response:
    """Run a whole program."""
    return await _streamed(body, body.job_spec(Mode.SANDBOX, body.code), account, gateway)


@router.post("/cancel", responses=problems(404))
async def direct_cancel(body: CancelRequest, account: TheSubmitter, gateway: TheGateway) -> CancelAnswer:
    """Cancel a submission; one that has ended is not changed."""
    job = await account_jobs.cancel(gateway.upstreams, account, body.submission_id)
    state = submission_of(job).state
    message = "The submission is over." if is_over(job) else "The submission is being cancelled."
    return CancelAnswer(success=True, id=job.job_id, state=state, message=message)


async def _submit(body: DirectSubmitRequest, mode: Mode, account: TheSender, gateway: TheGateway) -> Response:
    return await _streamed(body, body.job_spec(mode, body.code, body.problem_slug), account, gateway)


async def _streamed(
    body: DirectSubmitRequest | SandboxRequest, spec: JobSpec, account: TheSender, gateway: TheGateway
) -> Response:
    return gateway.stream_of(await account_jobs.submit(gateway.upstreams, account, spec, body.field_names))
