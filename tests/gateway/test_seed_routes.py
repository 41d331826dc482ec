"""The routes that existing front ends and scripts use."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.submission.v1 import submission_pb2

from tests.gateway.job_events import whole_run
from tests.gateway.refusals import refusal

if TYPE_CHECKING:
    import httpx

    from tests.gateway.running_gateway import RunningGateway
    from tests.gateway.scripted_services import ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

AMD = "/api/amd/submit"
AMD_BODY = {
    "solution_code": "int x;",
    "problem": "vector-addition",
    "problem_def": "class vector_addition: raise SystemExit",
    "gpu_type": "MI300X",
    "dtype": "float32",
    "language": "hip",
}
DIRECT_BODY = {"problemSlug": "vector-addition", "code": "int x;", "language": "hip", "gpuType": "MI300X"}


def last_spec(services: ScriptedServices) -> Any:
    return services.refusals.calls["SubmitJob"][-1].spec


@pytest.mark.parametrize(
    ("endpoint", "mode", "last"),
    [
        ("checker", submission_pb2.RUN_MODE_CHECK, "CHECKED"),
        ("benchmark", submission_pb2.RUN_MODE_BENCHMARK, "BENCHMARKED"),
        ("full", submission_pb2.RUN_MODE_FULL, "ACCEPTED"),
        ("sample", submission_pb2.RUN_MODE_SAMPLE, "PASSED"),
        ("sandbox", submission_pb2.RUN_MODE_SANDBOX, "SANDBOX_SUCCESS"),
    ],
)
async def test_amd_submit_answers_with_the_stream_of_each_endpoint(
    gateway: RunningGateway,
    endpoint: str,
    mode: submission_pb2.RunMode.ValueType,
    last: str,
) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(mode)
    frames = await gateway.frames("POST", AMD, json={**AMD_BODY, "endpoint": endpoint})
    assert (frames[0].event, frames[-1].event) == ("IN_QUEUE", last)
    assert json.loads(frames[0].data)["id"] == "job_1"
    assert last_spec(gateway.services).submission.mode == mode


async def test_amd_submit_is_full_by_default_and_names_the_place_to_resume(gateway: RunningGateway) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)
    response = await gateway.http.post(AMD, json={**AMD_BODY, "submission_id": "key-1"})
    assert response.headers["x-submission-id"] == "job_1"
    assert response.headers["ratelimit"] == '"in-flight";r=2, "hourly";r=3570;t=60'
    rest = await gateway.frames("GET", f"{response.headers['location']}/events", headers={"Last-Event-ID": "10"})
    assert [frame.event for frame in rest] == ["ACCEPTED"]
    assert gateway.calls["SubmitJob"][-1].idempotency_key == "key-1"
    assert last_spec(gateway.services).submission.source == "int x;"


@pytest.mark.parametrize(
    ("path", "body"),
    [(AMD, AMD_BODY), ("/api/submissions/direct-submit", DIRECT_BODY), ("/api/submissions/benchmark", DIRECT_BODY)],
)
async def test_calls_may_be_timed_in_a_way_of_ones_own(
    gateway: RunningGateway, path: str, body: dict[str, Any]
) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)
    await gateway.frames("POST", path, json={**body, "timing": "first-call"})
    assert last_spec(gateway.services).submission.timing_mode == submission_pb2.TIMING_MODE_FIRST_CALL
    response = await gateway.http.post(path, json={**body, "timing": "warm"})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "timing")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (AMD, AMD_BODY, "fallback_gpu_types"),
        ("/api/submissions/checker", DIRECT_BODY, "fallbackGpuTypes"),
        ("/api/submissions/sandbox", DIRECT_BODY, "fallbackGpuTypes"),
    ],
)
async def test_other_gpus_may_do_on_every_route(
    gateway: RunningGateway, path: str, body: dict[str, Any], field: str
) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)
    await gateway.frames("POST", path, json={**body, field: ["MI250X", "MI210"]})
    assert list(last_spec(gateway.services).fallback_gpu_types) == ["MI250X", "MI210"]
    violations = (("spec.fallback_gpu_types", "`MI21` is none"),)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "bad GPU", violations)
    response = await gateway.http.post(path, json={**body, field: ["MI21"]})
    assert response.json()["errors"] == [{"field": field, "message": "`MI21` is none"}]


async def test_the_web_applications_routes_take_an_element_type(gateway: RunningGateway) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_CHECK)
    await gateway.frames("POST", "/api/submissions/checker", json={**DIRECT_BODY, "dtype": "float16"})
    assert last_spec(gateway.services).submission.dtype == "float16"


@pytest.mark.parametrize(
    ("route", "mode"),
    [
        ("direct-submit", submission_pb2.RUN_MODE_FULL),
        ("checker", submission_pb2.RUN_MODE_CHECK),
        ("benchmark", submission_pb2.RUN_MODE_BENCHMARK),
        ("sample", submission_pb2.RUN_MODE_SAMPLE),
        ("sandbox", submission_pb2.RUN_MODE_SANDBOX),
    ],
)
async def test_each_route_of_the_web_application_runs_its_mode(
    gateway: RunningGateway, route: str, mode: submission_pb2.RunMode.ValueType
) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(mode)
    frames = await gateway.frames("POST", f"/api/submissions/{route}", json=DIRECT_BODY)
    assert json.loads(frames[-1].data)["final"] is True
    assert (last_spec(gateway.services).submission.mode, last_spec(gateway.services).submission.source) == (
        mode,
        "int x;",
    )


async def test_closing_the_submit_stream_cancels_nothing(gateway: RunningGateway) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)[:2]
    async with gateway.stream("POST", AMD, json=AMD_BODY) as frames:
        await anext(frames)
    await gateway.services.scheduler.until_watched(0)
    assert gateway.services.scheduler.cancelled == []


async def test_cancel_tells_what_became_of_it(gateway: RunningGateway) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)[:2]
    await gateway.http.post("/api/v1/submissions", json={"problem": "vector-addition", "code": "x"})
    answer = (await gateway.http.post("/api/submissions/cancel", json={"submissionId": "job_1"})).json()
    assert answer == {"success": True, "id": "job_1", "state": "CANCELLED", "message": "The submission is over."}


async def test_cancel_of_an_unknown_submission_is_plain_404(gateway: RunningGateway) -> None:
    response = await gateway.http.post("/api/submissions/cancel", json={"submissionId": "job_9"})
    assert response.status_code == 404
    assert response.json() == {"error": "Submission not found", "details": "there is no job job_9"}


@pytest.mark.parametrize(
    ("path", "body", "missing"),
    [
        (AMD, {}, ["problem", "solution_code"]),
        (AMD, {"problem": "relu", "solution_code": ""}, ["solution_code"]),
        (AMD, {"endpoint": "sandbox"}, ["solution_code"]),
        ("/api/submissions/checker", {"code": "x"}, ["problemSlug"]),
        ("/api/submissions/sandbox", {}, ["code"]),
        ("/api/submissions/cancel", {}, ["submissionId"]),
    ],
)
async def test_missing_fields_are_400_and_listed(
    gateway: RunningGateway, path: str, body: dict[str, Any], missing: list[str]
) -> None:
    response = await gateway.http.post(path, json=body)
    assert (response.status_code, response.headers["content-type"]) == (400, "application/json")
    assert response.json() == {"error": f"Missing required fields: {', '.join(missing)}", "missing": missing}
    assert not gateway.calls["SubmitJob"]


@pytest.mark.parametrize("path", [AMD, "/api/submissions/checker"])
async def test_unknown_problem_is_404_in_the_promised_words(gateway: RunningGateway, path: str) -> None:
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.NOT_FOUND, "no problem `rulu`; did you mean relu?")
    response = await gateway.http.post(path, json={**AMD_BODY, **DIRECT_BODY})
    assert response.status_code == 404
    field = "problem" if path == AMD else "problemSlug"
    assert response.json() == {
        "error": "Problem not found",
        "details": "no problem `rulu`; did you mean relu?",
        "errors": [{"field": field, "message": "no problem `rulu`; did you mean relu?"}],
    }


async def test_rate_limit_has_the_promised_shape(gateway: RunningGateway) -> None:
    gateway.refusals["SubmitJob"] = refusal(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "8 jobs in flight", retry_after=timedelta(seconds=30)
    )
    response = await gateway.http.post(AMD, json=AMD_BODY)
    assert response.status_code == 429
    assert response.json() == {
        "status": "RATE_LIMIT_EXCEEDED",
        "error": "Too many submissions",
        "details": "8 jobs in flight",
        "retry_after": 30.0,
    }


async def test_wrong_value_is_422_in_the_routes_own_field_names(gateway: RunningGateway) -> None:
    violations = (("spec.gpu_type", "`H100` is not offered; use MI300X"),)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "bad GPU", violations)
    response = await gateway.http.post("/api/submissions/checker", json={**DIRECT_BODY, "gpuType": "H100"})
    assert response.status_code == 422
    assert response.json() == {
        "error": "gpuType: `H100` is not offered; use MI300X",
        "errors": [{"field": "gpuType", "message": "`H100` is not offered; use MI300X"}],
    }


async def test_unknown_endpoint_is_422(gateway: RunningGateway) -> None:
    response = await gateway.http.post(AMD, json={**AMD_BODY, "endpoint": "race"})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "endpoint")


@pytest.mark.parametrize(
    ("request_options", "status", "field"),
    [
        ({"method": "GET"}, 405, None),
        ({"method": "POST", "content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "body"),
        ({"method": "POST", "content": b"x" * (3 << 20), "headers": {"Content-Type": "application/json"}}, 413, "body"),
        ({"method": "POST", "content": b"x"}, 415, "Content-Type"),
        ({"method": "POST", "json": AMD_BODY, "headers": {"Authorization": "Bearer nobody"}}, 401, "Authorization"),
    ],
)
async def test_other_failures_are_plain_json_too(
    gateway: RunningGateway, request_options: dict[str, Any], status: int, field: str | None
) -> None:
    response: httpx.Response = await gateway.http.request(url=AMD, **request_options)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json")
    assert [error["field"] for error in response.json().pop("errors", [])] == ([field] if field else [])
    assert set(response.json()) <= {"error", "errors"}


async def test_unreachable_service_is_503(gateway: RunningGateway) -> None:
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.UNAVAILABLE)
    response = await gateway.http.post(AMD, json=AMD_BODY)
    assert (response.status_code, set(response.json())) == (503, {"error"})
