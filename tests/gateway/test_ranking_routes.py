"""Rankings and comparisons over HTTP."""

from __future__ import annotations

import pytest
from wavepool.submission.v1.submission_pb2 import TIMING_MODE_COLD, TIMING_MODE_FIRST_CALL

from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN, USER_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
RANKINGS, COMPARISONS = "/api/v1/rankings?problem=vecadd", "/api/v1/comparisons?base=job_1&other=job_2"


async def test_a_ranking_names_users_and_shows_nobody_the_submissions_of_others(gateway: RunningGateway) -> None:
    found = (await gateway.http.get(RANKINGS)).json()
    assert [(one["rank"], one["user"], one["runtime_ms"], one["submission_id"]) for one in found["rankings"]] == [
        (1, "ada", 1.5, None),
        (2, "(unknown)", 2.0, None),
    ]
    assert [one["runtime_interval"] for one in found["rankings"]] == [0.25, None]
    assert (found["timing_mode"], found["users"], found["ranked"]) == ("first-call", 9, True)
    assert (found["you"]["rank"], found["you"]["is_you"], found["you"]["submission_id"]) == (9, True, "job_user_user")


async def test_everybody_sees_which_submission_a_time_is_of_if_that_is_public(gateway: RunningGateway) -> None:
    answer = gateway.services.answers["ListRankings"]
    rankings = [{**one, "is_public": place == 0} for place, one in enumerate(answer["rankings"])]
    gateway.services.answers["ListRankings"] = {**answer, "rankings": rankings}
    found = (await gateway.http.get(RANKINGS)).json()
    assert [one["submission_id"] for one in found["rankings"]] == ["job_user_ada", None]


async def test_operators_see_whose_submission_a_time_is_of(gateway: RunningGateway) -> None:
    found = (await gateway.http.get(RANKINGS, headers=ADMIN)).json()
    assert found["rankings"][0]["submission_id"] == "job_user_ada"


async def test_all_that_was_asked_for_is_passed_on(gateway: RunningGateway) -> None:
    await gateway.http.get(f"{RANKINGS}&gpu_type=mi210&dtype=float16&timing=first-call&limit=7")
    asked = gateway.calls["ListRankings"][-1]
    assert (asked.problem, asked.gpu_type, asked.dtype, asked.limit) == ("vecadd", "mi210", "float16", 7)
    assert (asked.timing_mode, asked.user_id) == (TIMING_MODE_FIRST_CALL, "user_user")


async def test_records_have_times_names_and_the_submissions_of_the_caller_alone(gateway: RunningGateway) -> None:
    found = (await gateway.http.get("/api/v1/rankings/history?problem=vecadd&timing=cold&dtype=fp16")).json()
    keys = ("time", "runtime_ms", "runtime_interval", "user", "is_you", "submission_id")
    records = [
        dict(zip(keys, one, strict=True))
        for one in (
            ("2026-01-01T00:00:00Z", 3.0, 0.25, "ada", False, None),
            ("2026-01-01T00:00:00Z", 2.0, 0.25, "demo", True, "job_user_user"),
        )
    ]
    assert (found["records"], found["you"]) == (records, records[1:])
    assert (found["problem"], found["timing_mode"], found["ranked"]) == ("vector-addition", "cold", True)
    asked = gateway.calls["ListRecords"][-1]
    assert (asked.problem, asked.dtype, asked.timing_mode) == ("vecadd", "fp16", TIMING_MODE_COLD)
    assert asked.user_id == "user_user"


async def test_a_comparison_is_of_the_callers_own_accounts(gateway: RunningGateway) -> None:
    gateway.services.identity.visible[USER_TOKEN] = ["acc_team"]
    found = (await gateway.http.get(COMPARISONS)).json()
    assert (found["verdict"], found["reason"]) == ("FASTER", "It is 1.500 times as fast.")
    assert found["cases"][0] == {
        "name": "n = 2^20",
        "base_runtime_ms": 3.0,
        "other_runtime_ms": 2.0,
        "speedup": 1.5,
        "speedup_low": 1.4,
        "speedup_high": 1.6,
        "verdict": "FASTER",
    }
    asked = gateway.calls["CompareJobs"][-1]
    assert asked.account_ids == ["acc_team", "acc_user"]
    assert (asked.base_job_id, asked.other_job_id, asked.or_shared) == ("job_1", "job_2", True)
    await gateway.http.get(COMPARISONS, headers=ADMIN)
    assert not gateway.calls["CompareJobs"][-1].account_ids, "operators compare everybody's"
