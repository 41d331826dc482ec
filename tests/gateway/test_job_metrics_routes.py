"""Figures of jobs over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from wavepool.scheduler.v1 import metrics_pb2

from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN, OPERATOR_TOKEN, USER_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

JOBS, QUEUES = "/api/v1/metrics/jobs", "/api/v1/metrics/queues"


async def test_figures_of_users_have_their_names_and_what_is_not_known_is_null(gateway: RunningGateway) -> None:
    found = (await gateway.http.get(f"{JOBS}?group_by=user")).json()
    assert (found["group_by"], found["since"], found["until"]) == (
        "user",
        "1970-01-02T00:00:00Z",
        "1970-01-03T00:00:00Z",
    )
    ada, gone = found["groups"]
    assert ada == {
        "group": "user_ada",
        "name": "ada",
        "jobs": 4,
        "succeeded": 3,
        "accepted": 2,
        "failed": 1,
        "cancelled": 0,
        "lost_attempts": 3,
        "wait": {"p50_seconds": 1.5, "p90_seconds": 9},
        "run": {"p50_seconds": 2, "p90_seconds": 3},
        "useful_gpu_seconds": 6,
        "paid_gpu_seconds": 8,
        "efficiency": 0.75,
        "gflops": 12.5,
    }
    assert (gone["name"], gone["wait"], gone["efficiency"], gone["gflops"]) == ("user_gone", None, None, None)


async def test_a_user_sees_one_account_of_theirs_and_operators_see_all(gateway: RunningGateway) -> None:
    gateway.services.identity.visible[USER_TOKEN] = ["acc_team"]

    async def asked(query: str = "", token: str = USER_TOKEN) -> list[str]:
        await gateway.http.get(f"{JOBS}{query}", headers={"Authorization": f"Bearer {token}"})
        return list(gateway.calls["GetJobMetrics"][-1].account_ids)

    assert await asked() == ["acc_user"]
    assert await asked("?account_id=acc_team") == ["acc_team"]
    assert await asked("", OPERATOR_TOKEN) == []
    assert await asked("?account_id=acc_other", ADMIN_TOKEN) == ["acc_other"]
    calls = len(gateway.calls["GetJobMetrics"])
    refused = await gateway.http.get(f"{JOBS}?account_id=acc_other")
    assert (refused.status_code, len(gateway.calls["GetJobMetrics"])) == (404, calls)


async def test_the_period_and_the_grouping_are_passed_on(gateway: RunningGateway) -> None:
    await gateway.http.get(f"{JOBS}?group_by=gpu_type&since=2026-11-01&until=2026-11-02T12:00:00Z")
    asked = gateway.calls["GetJobMetrics"][-1]
    assert asked.group_by == metrics_pb2.JOB_GROUPING_GPU_TYPE
    assert asked.start_time.ToDatetime(UTC) == datetime(2026, 11, 1, tzinfo=UTC)
    assert asked.end_time.ToDatetime(UTC) == datetime(2026, 11, 2, 12, tzinfo=UTC)
    await gateway.http.get(JOBS)
    asked = gateway.calls["GetJobMetrics"][-1]
    assert not asked.HasField("start_time")
    assert not asked.HasField("end_time")


async def test_everybody_sees_what_waits_now(gateway: RunningGateway) -> None:
    found = (await gateway.http.get(QUEUES)).json()
    [queue] = found["queues"]
    assert (queue["queue"], queue["gpu_type"], queue["waiting_jobs"], queue["oldest_wait_seconds"]) == (
        "default",
        "MI300X",
        2,
        7.5,
    )
    assert found["window_seconds"] == 900
