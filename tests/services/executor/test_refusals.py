"""Requests that the executor refuses, and those that it answers for anybody."""

from __future__ import annotations

from typing import Any, cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wavepool.executor.v1 import inventory_pb2, run_event_pb2

from tests.services.executor.client import QUICK, Client, refusal, request


@pytest.mark.parametrize(
    ("fields", "field", "hint"),
    [
        ({"run_id": ""}, "run_id", "1 to 128"),
        ({"run_id": "x" * 129}, "run_id", "1 to 128"),
        ({"source": "x" * (3 << 20)}, "submission.source", "at most 1,048,576"),
        ({"mode": 0}, "submission.mode", "choose CHECK, "),
        ({"mode": 99}, "submission.mode", "choose CHECK, "),
        ({"dtype": "float8"}, "submission.dtype", "it has float32"),
        ({"launch_plan": "x" * 70_000}, "submission.launch_plan", "at most 65,536"),
        ({"problem_definition": "x" * 270_000}, "submission.problem_definition", "at most 262,144"),
        ({"timing_mode": 9}, "submission.timing_mode", "first-call"),
        ({"eighths": 3}, "eighths", "one of 1, 2, 4, 8"),
        ({"eighths": 16}, "eighths", "one of 1, 2, 4, 8"),
        ({"gpu": 1}, "slots[0].gpu", "GPUs are 0 to 0"),
        ({"gpu": -1}, "slots[0].gpu", "GPUs are 0 to 0"),
        ({"gpu": 0, "eighths": 4, "first_eighth": 2}, "slots[0].first_eighth", "multiple of 4"),
        ({"gpu": 0, "eighths": 4, "first_eighth": -4}, "slots[0].first_eighth", "multiple of 4"),
        ({"gpu": 0, "eighths": 3}, "slots[0].eighths", "one of 1, 2, 4, 8"),
        ({"slots": [inventory_pb2.Slot(eighths=8)] * 2}, "slots", "names a GPU twice"),
        ({"slots": [inventory_pb2.Slot(eighths=8)], "eighths": 8}, "eighths", "beside `slots`"),
        ({"after_seq": -1}, "after_seq", "must be 0"),
        ({"fencing_token": 0}, "fencing_token", "admin token"),
        ({"fencing_token": -4}, "fencing_token", "negative"),
        ({"lease_expire_time": None}, "lease_expire_time", "missing"),
    ],
)
async def test_a_bad_field_is_named_with_what_is_right(
    client: Client, fields: dict[str, Any], field: str, hint: str
) -> None:
    failure = await refusal(client.run(request(**{"source": QUICK, **fields})))

    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [name for name, _ in failure.violations] == [field]
    assert hint in failure.violations[0][1]
    assert (await client.capabilities()).runs_in_flight == 0


async def test_all_faults_of_a_request_are_reported_at_once(client: Client) -> None:
    failure = await refusal(client.run(request("x" * (3 << 20), run_id="", mode=0)))

    assert {name for name, _ in failure.violations} == {"run_id", "submission.source", "submission.mode"}


async def test_an_unknown_problem_is_reported_with_what_it_may_have_meant(client: Client) -> None:
    failure = await refusal(client.run(request(QUICK, problem="softmx")))

    assert failure.code is grpc.StatusCode.NOT_FOUND
    assert "softmax" in failure.message


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ((), grpc.StatusCode.UNAUTHENTICATED),
        ((("authorization", "Basic abc"),), grpc.StatusCode.UNAUTHENTICATED),
        ((("authorization", "Bearer guess"),), grpc.StatusCode.PERMISSION_DENIED),
        ((("authorization", "Bearer "),), grpc.StatusCode.UNAUTHENTICATED),
    ],
)
async def test_a_call_without_a_right_token_is_refused(
    client: Client, metadata: tuple[tuple[str, str], ...], code: grpc.StatusCode
) -> None:
    client.metadata = metadata

    assert (await refusal(client.run(request(QUICK)))).code is code
    assert (await refusal(client.cancel("any"))).code is code
    assert (await refusal(client.renew("any", 60))).code is code
    assert (await refusal(client.capabilities())).code is code


async def test_the_administrator_needs_no_lease(client: Client) -> None:
    asked = request(QUICK, fencing_token=0, lease_expire_time=None)

    assert (await client.as_admin().run(asked))[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_capabilities_need_no_token(client: Client) -> None:
    capabilities = await client.capabilities()

    assert (capabilities.device, capabilities.device_title) == ("cpu", "A Test 3000")
    assert (capabilities.sandbox, list(capabilities.sandbox_gaps)) == ("process", ["everything is open"])
    # The gaps that the pool keeps with the machine.
    assert list(capabilities.inventory.sandbox_gaps) == ["everything is open"]
    assert capabilities.max_runs == 1
    assert list(capabilities.problems) == ["softmax"]


async def test_it_reports_healthy(client: Client) -> None:
    asked = health_pb2.HealthCheckRequest(service="wavepool.executor.v1.ExecutorService")

    stub: Any = cast("Any", health_pb2_grpc).HealthStub(client.channel)
    answer = await stub.Check(asked, timeout=10)

    assert answer.status == health_pb2.HealthCheckResponse.SERVING
