"""`POST /api/amd/submit`, as scripts for the AMD runner speak it: the answer is the stream itself."""

from __future__ import annotations

from fastapi import APIRouter, Response
from wavepool.scheduler.v1.scheduler_pb2 import JobSpec

from gateway.dependencies import TheAccount, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import STREAM, problems
from gateway.submissions import intake
from gateway.submissions.seed_schemas import AmdSubmitRequest
from gateway.submissions.views import submission_path
from gateway.words.modes import Endpoint, timing_mode_to_proto
from gateway.words.submission_fields import plan_text

router = APIRouter(prefix="/api/amd", tags=["seed-compatible"], route_class=JsonRoute)

FIELD_NAMES = {
    "source": "solution_code",
    "mode": "endpoint",
    "timing_mode": "timing",
    "idempotency_key": "submission_id",
}


@router.post("/submit", response_class=Response, responses=STREAM | problems(402, 404, 409, 429))
async def submit(body: AmdSubmitRequest, account: TheAccount, gateway: TheGateway) -> Response:
    """Submit and follow in one request. Resume at `/api/v1/submissions/{X-Submission-Id}/events`."""
    # Scripts send the definition of whatever problem is at hand along with a whole program, too.
    is_program = body.endpoint is Endpoint.SANDBOX
    spec = JobSpec(
        problem=body.problem,
        source=body.solution_code,
        mode=body.endpoint.mode.proto,
        gpu_type=body.gpu_type,
        fallback_gpu_types=body.fallback_gpu_types,
        dtype=body.dtype,
        language=body.language,
        launch_plan=plan_text(body.launch_plan),
        problem_def="" if is_program else body.problem_def,
        timing_mode=timing_mode_to_proto(body.timing),
    )
    job = await intake.submit(gateway.upstreams, account, spec, body.submission_id, FIELD_NAMES)
    return gateway.stream(job, 0, {"X-Submission-Id": job.job_id, "Location": submission_path(job.job_id)})
