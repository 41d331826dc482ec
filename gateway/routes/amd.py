"""`POST /api/amd/submit`, as scripts for the AMD runner use it: the answer is the stream itself."""

from __future__ import annotations

from fastapi import APIRouter, Response

from gateway.dependencies import STREAM_PLACE, TheGateway, TheSender
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import STREAM, problems
from gateway.submissions import account_jobs
from gateway.submissions.bodies import AmdSubmitRequest

router = APIRouter(prefix="/api/amd", tags=["seed-compatible"], route_class=JsonRoute)


@router.post(
    "/submit", response_class=Response, dependencies=[STREAM_PLACE], responses=STREAM | problems(402, 404, 409, 429)
)
async def amd_submit(body: AmdSubmitRequest, account: TheSender, gateway: TheGateway) -> Response:
    """Submit and follow in one request. Resume at `/api/v1/submissions/{X-Submission-Id}/events`."""
    answer = await account_jobs.submit(gateway.upstreams, account, body.spec, body.field_names, body.submission_id)
    return gateway.stream_of(answer)
