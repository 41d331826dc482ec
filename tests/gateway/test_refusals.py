"""What a service behind the gateway refuses has its status, its words, and the names that HTTP has for its fields."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import grpc
import pytest
from grpc import StatusCode

from servicekit.rpc.errors import RpcFailure
from services.billing.errors import InsufficientCreditError
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN
from tests.gateway.test_queue_routes import KAIWO

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
SUBMIT = ("POST", "submissions", {"problem": "vector-addition", "code": "int x;", "mode": "check"})
RESERVE = ("POST", "reservations", {"hours": 1.5, "keys": [{"public_key": "ssh-ed25519 AAAA"}]})
RESERVATION = "reservations/res_01J"
ORDER = ("POST", "machines", {})
PRICE = ("POST", "prices", {"gpu_type": "mi300x", "price_usd_per_hour": 2.29})
TOO_DEAR = str(
    InsufficientCreditError(382_080_000, 40_000_000).explained("8 GPUs for 24 h {}", "2 h 30 min", affordable={})
)
"""As billing says it, word for word in tests/services/billing/test_reservation_charges.py."""
Asked = tuple[str, str, Any]


def named(status: int, request: Asked, method: str, **fields: str) -> list[Any]:
    """A refusal of each field by itself, and the name that is expected for it."""
    code = {409: StatusCode.FAILED_PRECONDITION, 422: StatusCode.INVALID_ARGUMENT}[status]
    return [(request, method, refusal(code, "", ((theirs, "why"),)), status, ours) for theirs, ours in fields.items()]


FIELDS = [
    *named(
        422,
        SUBMIT,
        "SubmitJob",
        **{
            "spec.submission.source": "code",
            "spec.submission.timing_mode": "timing",
            "spec.gpu_type": "gpu_type",
            "spec.fallback_gpu_types": "fallback_gpu_types",
            "spec.job_class": "class",
            "spec.resources.gpus": "resources.gpus",
            "spec.resources.least_gpus": "resources.gpus.min",
        },
    ),
    *named(409, SUBMIT, "SubmitJob", **{"spec.queue": "queue"}),
    *named(
        422,
        RESERVE,
        "CreateReservation",
        **{"spec.gpus": "gpu_count", "spec.duration": "hours", "spec.keys[0].public_key": "keys[0].public_key"},
    ),
    *named(409, RESERVE, "CreateReservation", **{"spec.queue": "queue", "spec.start_time": "start_time"}),
    *named(422, ("POST", f"{RESERVATION}/extend", {"hours": 100}), "ExtendReservation", duration="hours"),
    *named(422, ("POST", f"{RESERVATION}/users", {"remove": ["a"]}), "UpdateReservation", remove_users="remove"),
    *named(422, ("POST", "build-contexts", {"content": "AAAA"}), "UploadBuildContext", content="content"),
    *named(422, ("POST", "tokens", {"name": "x"}), "CreateToken", account="account_id", scopes="scopes"),
    *named(422, PRICE, "SetPrice", price_micros_per_hour="price_usd_per_hour"),
    *named(422, ORDER, "RequestMachine", max_price_micros_per_hour="max_price_usd_per_hour"),
    *named(422, ("GET", "billing/projections?gpu_type=MI3", None), "ListScenarios", gpu_type="gpu_type"),
    *named(422, ("GET", "metrics/jobs", None), "GetJobMetrics", start_time="since"),
    *named(
        422,
        ("POST", "queues/apply", {"documents": [KAIWO]}),
        "ApplyQueues",
        **{"queues[a.b].resources.gpu.quota": "queues[a.b].resources.gpu.quota"},
    ),
    (SUBMIT, "SubmitJob", refusal(StatusCode.NOT_FOUND, "why"), 404, "problem"),
    (
        RESERVE,
        "CreateReservation",
        refusal(StatusCode.ALREADY_EXISTS, "", (("idempotency_key", "why"),)),
        409,
        "Idempotency-Key",
    ),
]
WHOLE: list[tuple[Asked, str, StatusCode, int]] = [
    (SUBMIT, "SubmitJob", StatusCode.INVALID_ARGUMENT, 422),
    (SUBMIT, "SubmitJob", StatusCode.PERMISSION_DENIED, 403),
    (SUBMIT, "SubmitJob", StatusCode.NOT_FOUND, 404),
    (SUBMIT, "SubmitJob", StatusCode.FAILED_PRECONDITION, 402),
    (SUBMIT, "SubmitJob", StatusCode.ALREADY_EXISTS, 409),
    (SUBMIT, "SubmitJob", StatusCode.RESOURCE_EXHAUSTED, 429),
    (SUBMIT, "SubmitJob", StatusCode.UNAVAILABLE, 503),
    (SUBMIT, "SubmitJob", StatusCode.DEADLINE_EXCEEDED, 504),
    (SUBMIT, "SubmitJob", StatusCode.INTERNAL, 500),
    (RESERVE, "CreateReservation", StatusCode.FAILED_PRECONDITION, 402),
    (("POST", "reservations/quote", {"hours": 1}), "QuoteReservation", StatusCode.FAILED_PRECONDITION, 402),
    (RESERVE, "CreateReservation", StatusCode.RESOURCE_EXHAUSTED, 429),
    (ORDER, "RequestMachine", StatusCode.FAILED_PRECONDITION, 409),
    (ORDER, "RequestMachine", StatusCode.ALREADY_EXISTS, 409),
    (ORDER, "RequestMachine", StatusCode.RESOURCE_EXHAUSTED, 429),
    (PRICE, "SetPrice", StatusCode.ALREADY_EXISTS, 409),
    (("PUT", "teams/compilers/members/bob", {}), "AddTeamMember", StatusCode.PERMISSION_DENIED, 403),
    (("GET", "comparisons?base=job_1&other=job_2", None), "CompareJobs", StatusCode.FAILED_PRECONDITION, 409),
    (("DELETE", "disks/work", None), "DeleteDisk", StatusCode.ABORTED, 409),
    (("POST", "alerts/test", {"channel": "x"}), "SendTestAlert", StatusCode.NOT_FOUND, 404),
    (("POST", "sign-in", {"id_token": "a.b.c"}), "SignIn", StatusCode.INVALID_ARGUMENT, 422),
    (("POST", "sign-in", {"id_token": "a.b.c"}), "SignIn", StatusCode.PERMISSION_DENIED, 403),
    (("POST", "sign-in", {"id_token": "a.b.c"}), "SignIn", StatusCode.FAILED_PRECONDITION, 409),
]


async def answer_of(gateway: RunningGateway, request: Asked, **headers: str) -> Any:
    method, path, body = request
    return await gateway.http.request(method, f"/api/v1/{path}", json=body, headers=ADMIN | headers)


@pytest.mark.parametrize(("request_", "method", "failure", "status", "field"), FIELDS)
async def test_a_refused_field_has_the_name_that_the_client_gave_it(
    gateway: RunningGateway, request_: Asked, method: str, failure: RpcFailure, status: int, field: str
) -> None:
    gateway.refusals[method] = failure
    answer = await answer_of(gateway, request_)
    assert (answer.status_code, answer.json()["errors"]) == (status, [{"field": field, "message": "why"}])
    assert answer.json()["detail"].endswith("why")


@pytest.mark.parametrize(("request_", "method", "code", "status"), WHOLE)
async def test_a_refusal_is_a_problem_with_its_words(
    gateway: RunningGateway, request_: Asked, method: str, code: grpc.StatusCode, status: int
) -> None:
    gateway.refusals[method] = refusal(code, TOO_DEAR)
    answer = await answer_of(gateway, request_, **{"X-Request-Id": "req-7"})
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["type"], problem["request_id"]) == (status, "about:blank", "req-7")
    assert (problem["instance"], answer.headers["x-request-id"]) == (
        f"/api/v1/{request_[1]}".partition("?")[0],
        "req-7",
    )
    assert (problem["detail"] == TOO_DEAR) == (status < 500)


@pytest.mark.parametrize(("seconds", "said"), [(30, "30"), (30.1, "31")])
async def test_a_limit_says_when_to_try_again_and_never_too_early(
    gateway: RunningGateway, seconds: float, said: str
) -> None:
    wait = timedelta(seconds=seconds)
    gateway.refusals["SubmitJob"] = refusal(StatusCode.RESOURCE_EXHAUSTED, "8 jobs in flight", retry_after=wait)
    answer = await answer_of(gateway, SUBMIT)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, said)
    assert (answer.json()["code"], answer.json()["detail"]) == ("RATE_LIMIT_EXCEEDED", "8 jobs in flight")
