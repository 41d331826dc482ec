"""Failures that none of our own routes raises."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import grpc
import pytest

from gateway.http.body_limit import MAX_BODY_BYTES
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUBMIT = "/api/v1/submissions"
JSON = {"Content-Type": "application/json"}


async def chunks(count: int) -> AsyncGenerator[bytes]:
    for _ in range(count):
        yield b"x" * 65536


async def test_unknown_path_is_404_as_a_problem(gateway: RunningGateway) -> None:
    response = await gateway.http.get("/api/v1/nothing")
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")
    assert response.json()["title"] == "Not Found"


async def test_wrong_method_is_405_and_names_the_right_one(gateway: RunningGateway) -> None:
    response = await gateway.http.delete(f"{SUBMIT}/job_1")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, PATCH")


async def test_405_names_the_methods_of_all_routes_at_the_path(gateway: RunningGateway) -> None:
    response = await gateway.http.delete(SUBMIT)
    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")
    assert response.json()["detail"] == "DELETE is not possible here; use GET, POST."


async def test_a_path_that_is_written_out_allows_its_own_methods_alone(gateway: RunningGateway) -> None:
    response = await gateway.http.request("OPTIONS", "/api/v1/queues/apply")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000])
async def test_malformed_json_is_400(gateway: RunningGateway, body: bytes) -> None:
    response = await gateway.http.post(SUBMIT, content=body, headers=JSON)
    assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")
    assert response.json()["errors"][0]["field"] == "body"


async def test_wrong_token_names_the_header(gateway: RunningGateway) -> None:
    response = await gateway.http.get("/api/v1/me", headers={"Authorization": "Bearer wpt_wrong"})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (401, "Authorization")


async def test_an_unknown_query_parameter_is_named_on_every_route(gateway: RunningGateway) -> None:
    gateway.http.event_hooks = {}
    for path, operations in gateway.app.openapi()["paths"].items():
        for method in operations:
            response = await gateway.http.request(method, f"{path.replace('{', '').replace('}', '')}?bogus=1", json={})
            assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "bogus"), (method, path)


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        (
            f"{SUBMIT}?sate=QUEUED&state=QUEUED",
            "must be one of page_size, page_token, problem, account_id, everybody, user_id",
        ),
        (f"{SUBMIT}/job_1?a=", "is not a parameter of this route, which has none; remove it"),
        ("/api/v1/billing/report?start=2026-11-01", "must be one of from, to; it is 'start', and the nearest is"),
    ],
)
async def test_an_unknown_query_parameter_says_which_there_are(gateway: RunningGateway, path: str, fix: str) -> None:
    response = await gateway.http.get(path)
    [error] = response.json()["errors"]
    assert (response.status_code, error["message"].startswith(fix)) == (422, True), error


async def test_the_page_keeps_the_answer_of_a_sign_in(gateway: RunningGateway) -> None:
    assert (await gateway.http.get("/?code=1&state=2")).status_code == 200


async def test_malformed_json_is_located(gateway: RunningGateway) -> None:
    response = await gateway.http.post(SUBMIT, content=b'{"code": }', headers=JSON)
    assert response.json()["detail"] == "The body is not valid JSON: Expecting value at character 9."


@pytest.mark.parametrize("body", ["[1]", "1", "null", ""])
async def test_body_that_is_no_object_is_422(gateway: RunningGateway, body: str) -> None:
    response = await gateway.http.post(SUBMIT, content=body, headers=JSON)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "body")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"])
async def test_other_content_types_are_415(gateway: RunningGateway, content_type: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    response = await gateway.http.post(SUBMIT, content=b"{}", headers=headers)
    assert response.status_code == 415
    assert "application/json" in response.json()["detail"]


async def test_body_that_says_it_is_too_large_is_413_unread(gateway: RunningGateway) -> None:
    response = await gateway.http.post(SUBMIT, content=b"x" * (MAX_BODY_BYTES + 1), headers=JSON)
    assert (response.status_code, response.headers["content-type"]) == (413, "application/problem+json")


async def test_body_that_turns_out_too_large_is_413(gateway: RunningGateway) -> None:
    response = await gateway.http.post(SUBMIT, content=chunks(33), headers=JSON)
    assert (response.status_code, response.headers["content-type"]) == (413, "application/problem+json")
    assert response.json()["errors"][0]["field"] == "body"


async def test_body_just_within_the_limit_is_read(gateway: RunningGateway) -> None:
    body = b'{"code": "' + b"x" * (MAX_BODY_BYTES - 12) + b'"}'
    response = await gateway.http.post(SUBMIT, content=body, headers=JSON)
    assert response.status_code == 422


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer nobody"}, {"Authorization": "Basic eDp5"}])
async def test_wrong_token_is_401_with_a_challenge(gateway: RunningGateway, headers: dict[str, str]) -> None:
    response = await gateway.http.get("/api/v1/me", headers=headers)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, 'Bearer realm="wavepool"')


async def test_missing_token_is_401_before_anything_is_submitted(gateway: RunningGateway) -> None:
    del gateway.http.headers["Authorization"]
    response = await gateway.http.post(SUBMIT, json={"code": "x", "problem": "relu"})
    assert response.status_code == 401
    assert not gateway.calls["SubmitJob"]


async def test_unreachable_service_is_503_that_can_be_retried(gateway: RunningGateway) -> None:
    gateway.refusals["AuthenticateToken"] = refusal(grpc.StatusCode.UNAVAILABLE, "10.0.0.7 refused")
    response = await gateway.http.get("/api/v1/me")
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert "10.0.0.7" not in response.text


async def test_fault_of_ours_tells_nothing_but_the_request_id(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the secret detail")

    monkeypatch.setattr("gateway.routes.catalogue.problem_list_of", broken)
    response = await gateway.http.get("/api/v1/problems", headers={"X-Request-Id": "req-9"})
    assert (response.status_code, response.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in response.text
    assert "req-9" in response.json()["detail"]


async def test_strange_request_id_is_made_harmless(gateway: RunningGateway) -> None:
    response = await gateway.http.get("/healthz", headers={"X-Request-Id": "a" * 500})
    assert response.headers["x-request-id"] == "a" * 64
