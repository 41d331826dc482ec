"""Catalogue, machines, costs, metrics, tokens, health."""

from __future__ import annotations

from typing import Any, cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wavepool.scheduler.v1 import scheduler_pb2

from servicekit.rpc.health import Health
from tests.gateway.running_gateway import RunningGateway, serve, settings_for
from tests.gateway.scripted_scheduler import STATEMENT
from tests.gateway.scripted_services import ADMIN_TOKEN, ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}


async def test_catalogue_lists_problems_with_their_signature(gateway: RunningGateway) -> None:
    listed = (await gateway.http.get("/api/v1/problems")).json()
    assert listed["total"] == 1
    (problem,) = listed["problems"]
    assert (problem["slug"], problem["difficulty"]) == ("vector-addition", "EASY")
    assert problem["dtypes"] == ["float32", "float16"]
    assert problem["signature"] == "const float* a, const float* b, float* c, size_t n"


async def test_each_problem_says_what_the_tokens_user_and_all_have_reached(gateway: RunningGateway) -> None:
    found = (await gateway.http.get("/api/v1/problems?gpu_type=mi300x&dtype=fp32")).json()
    assert (found["gpu_type"], found["dtype"], found["timing_mode"]) == ("MI300X", "float32", "cold")
    (problem,) = found["problems"]
    times = {"best_runtime_ms": 2.0, "record_runtime_ms": 1.5, "record_runtime_interval": 0.25}
    reached = {"status": "solved", "attempts": 3, **times, "best_runtime_interval": None, "users": 9}
    assert reached.items() <= problem.items()
    asked = gateway.calls["ListProgress"][-1]
    assert (asked.user_id, asked.gpu_type, asked.dtype) == ("user_user", "mi300x", "fp32")


@pytest.mark.parametrize(
    ("progress", "status"),
    [
        ({}, "none"),
        ({"slug": "another", "solved": True}, "none"),
        ({"slug": "vector-addition", "users": 1}, "none"),
        ({"slug": "vector-addition", "attempts": 1}, "tried"),
    ],
)
async def test_a_problem_without_a_time_has_none(
    gateway: RunningGateway, progress: dict[str, Any], status: str
) -> None:
    gateway.services.answers["ListProgress"] = {"problems": [progress]}
    (problem,) = (await gateway.http.get("/api/v1/problems")).json()["problems"]
    assert (problem["status"], problem["best_runtime_ms"], problem["record_runtime_ms"]) == (status, None, None)


async def test_an_answer_that_the_caller_has_already_is_not_sent_again(gateway: RunningGateway) -> None:
    whole = await gateway.http.get("/api/v1/problems")
    tag = whole.headers["ETag"]
    assert (tag[0], whole.headers["Cache-Control"]) == ('"', "private, no-cache")
    for known in (tag, f'"another", W/{tag}', "*"):
        again = await gateway.http.get("/api/v1/problems", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    other = await gateway.http.get("/api/v1/problems", headers={"If-None-Match": f'"{tag[2:]}'})
    assert other.json() == whole.json()
    gateway.services.answers["ListProgress"] = {}
    changed = await gateway.http.get("/api/v1/problems", headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["ETag"] != tag) == (200, True)


@pytest.mark.parametrize("path", ["submissions", "machines", "queues", "availability"])
async def test_what_is_polled_has_an_etag(gateway: RunningGateway, path: str) -> None:
    whole = await gateway.http.get(f"/api/v1/{path}", headers=ADMIN)
    assert whole.status_code == 200
    again = await gateway.http.get(f"/api/v1/{path}", headers=ADMIN | {"If-None-Match": whole.headers["ETag"]})
    assert again.status_code == 304


async def test_refusals_have_no_etag(gateway: RunningGateway) -> None:
    assert "ETag" not in (await gateway.http.get("/api/v1/problems/nope", headers={"If-None-Match": "*"})).headers


async def test_problem_has_its_texts(gateway: RunningGateway) -> None:
    problem = (await gateway.http.get("/api/v1/problems/vector-addition")).json()
    assert problem["statement"] == STATEMENT
    assert "solution" in problem["starter"]


async def test_a_problem_has_its_parameters_and_cases_on_a_gpu_type(gateway: RunningGateway) -> None:
    problem = (await gateway.http.get("/api/v1/problems/vector-addition?gpu_type=mi210")).json()
    meaning = {"name": "a", "type": "float", "const": True, "pointer": True, "meaning": "device, `n` floats"}
    assert problem["parameters"][0] == meaning
    first, second = problem["cases"]
    figures = {"name": "n = 2^26", "sizes": {"n": "67108864"}, "bytes": 805306368.0, "flops": 67108864.0}
    assert first == figures | {"least_ms": 0.1519446, "bound": "MEMORY"}
    assert (second["least_ms"], second["bound"]) == (None, None)
    assert gateway.calls["GetProblem"][-1].gpu_type == problem["gpu_type"] == "mi210"


async def test_unknown_problem_is_404(gateway: RunningGateway) -> None:
    assert (await gateway.http.get("/api/v1/problems/nope")).status_code == 404


async def test_gpu_types_are_those_of_the_price_list_in_its_order(gateway: RunningGateway) -> None:
    listed = (await gateway.http.get("/api/v1/gpu-types")).json()["gpu_types"]
    assert [gpu["gpu_type"] for gpu in listed] == ["MI300X", "MI300A", "MI250X", "MI210", "MI325X"]
    assert {gpu["price_usd_per_hour"] for gpu in listed} == {1.99}


async def test_machine_tells_what_it_really_is(gateway: RunningGateway) -> None:
    (machine,) = (await gateway.http.get("/api/v1/machines")).json()["machines"]
    assert (machine["id"], machine["state"], machine["gpu_type"]) == ("m_1", "WARM", "MI300X")
    assert (machine["device"], machine["device_title"]) == ("cpu", "AMD EPYC 9354P")


async def test_machine_in_a_state_of_a_newer_pool_is_still_shown(gateway: RunningGateway) -> None:
    gateway.services.vmpool.machine.state = 42  # pyright: ignore[reportAttributeAccessIssue] - a number of a newer proto
    (machine,) = (await gateway.http.get("/api/v1/machines?include_ended=true")).json()["machines"]
    assert machine["state"] == "UNKNOWN_42"
    assert gateway.calls["ListMachines"][-1].include_ended


async def test_limits_are_the_accounts_own(gateway: RunningGateway) -> None:
    assert (await gateway.http.get("/api/v1/limits")).json() == {
        "remaining_submissions": 2,
        "jobs_in_flight": 18,
        "max_jobs_in_flight": 20,
        "submissions_in_last_hour": 30,
        "max_submissions_per_hour": 3600,
        "renew_after_seconds": 59.5,
    }
    assert [request.account_id for request in gateway.calls["GetAllowance"]] == ["acc_user"]
    assert (await gateway.http.get("/api/v1/limits?account_id=acc_other")).status_code == 404
    gateway.services.scheduler.allowance = scheduler_pb2.Allowance(remaining_submissions=5, max_jobs_in_flight=5)
    unlimited = (await gateway.http.get("/api/v1/limits")).json()
    assert (unlimited["max_submissions_per_hour"], unlimited["renew_after_seconds"]) == (None, None)


async def test_costs_are_the_accounts_own_in_dollars(gateway: RunningGateway) -> None:
    costs = (await gateway.http.get("/api/v1/costs?page_size=3&page_token=page-1")).json()
    assert (costs["granted_usd"], costs["charged_usd"], costs["available_usd"]) == (1400.0, 350.0, 1000.0)
    assert costs["postings"][0]["amount_usd"] == -0.001234
    assert costs["postings"][0]["kind"] == "CHARGE"
    request = gateway.calls["ListPostings"][-1]
    assert (request.account_id, request.page_size, request.page_token) == ("acc_user", 3, "page-1")


@pytest.mark.parametrize("path", ["/api/v1/metrics", "/api/amd/metrics"])
async def test_metrics_have_the_promised_fields(gateway: RunningGateway, path: str) -> None:
    metrics = (await gateway.http.get(path)).json()
    (machine,) = metrics.pop("vm_pool")
    assert (machine["id"], machine["device"]) == ("m_1", "cpu")
    assert metrics == {
        "total_cost_usd": 350.0,
        "charged_usd": 350.0,
        "cost_note": "",
        "remaining_credits_usd": 1000.0,
        "credits_used_pct": 25.0,
        "tasks_completed": 7,
        "cold_starts": 3,
        "warm_reuses": 6,
        "total_vms": 4,
        "active_vms": 1,
        "busy_vms": 1,
        "idle_seconds": 90.5,
        "vm_cost_usd": 2.5,
        "queued_jobs": 2,
        "running_jobs": 1,
    }


async def test_me_is_the_tokens_user_and_account(gateway: RunningGateway) -> None:
    me = (await gateway.http.get("/api/v1/me")).json()
    assert me == {
        "user_id": "user_user",
        "user_name": "demo",
        "role": "user",
        "account_id": "acc_user",
        "account_name": "demo",
        "token_id": "tok_1",
        "admin": False,
        "scopes": ["read", "submit", "manage"],
        "expire_time": None,
    }


async def test_readiness_needs_every_service_to_serve(gateway: RunningGateway) -> None:
    ready = await gateway.http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    await gateway.services.health.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    draining = await gateway.http.get("/readyz")
    assert (draining.status_code, draining.json()["services"]["billing"]) == (503, "not serving")


async def test_readiness_says_that_a_service_does_not_reach_its_database(services: ScriptedServices) -> None:
    health, server = Health(lambda: True), grpc.aio.server()
    health.serve([])
    health.say_database(reaches=False)
    cast("Any", health_pb2_grpc).add_HealthServicer_to_server(health, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with serve(services, settings_for(services, vmpool_target=f"127.0.0.1:{port}")) as gateway:
        answer = await gateway.http.get("/readyz")
    await server.stop(None)
    states = answer.json()["services"]
    assert (answer.status_code, states["vmpool"]) == (503, "not serving: database out of reach")


async def test_readiness_names_the_service_that_is_missing(services: ScriptedServices) -> None:
    settings = settings_for(services, vmpool_target="127.0.0.1:1")
    async with serve(services, settings) as gateway:
        answer = await gateway.http.get("/readyz")
        alive = await gateway.http.get("/healthz")
    assert (answer.status_code, alive.status_code) == (503, 200)
    assert answer.json()["services"]["scheduler"] == "serving"
    assert answer.json()["services"]["vmpool"].startswith("unreachable")
