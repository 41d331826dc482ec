"""Launch plans and problem definitions over real HTTP, through every process to the judge and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import ROOT, Frame, Wavepool, frames

CORE = ROOT / "tests" / "services" / "executor" / "core"
PLANS, DEFINITIONS = CORE / "launch_plans", CORE / "definitions"


def sent(wavepool: Wavepool, **fields: Any) -> list[Frame]:
    with wavepool.http.stream("POST", "/api/amd/submit", json={"endpoint": "checker", **fields}) as response:
        assert response.status_code == 200, response.read()
        return [frame for frame in frames(response) if frame.event != "heartbeat"]


def test_kernels_and_a_plan_are_judged_and_kept(wavepool: Wavepool) -> None:
    code, plan = (PLANS / "softmax.hip").read_text(), json.loads((PLANS / "softmax.json").read_text())
    story = sent(wavepool, solution_code=code, problem="softmax", launch_plan=plan)
    assert story[-1].event == "CHECKED", story[-1]
    kept = wavepool.job(story[0].data["id"])
    assert (kept["launch_plan"], kept["code"]) == (plan, code)


def test_a_plan_is_refused_at_the_place_that_is_wrong(wavepool: Wavepool) -> None:
    plan = json.loads((PLANS / "softmax.json").read_text())
    plan["launches"][1]["grid"] = ["ceil_div(size, 256)"]
    body = {"code": "x", "problem": "softmax", "mode": "check", "launch_plan": plan}
    answer = wavepool.http.post("/api/v1/submissions", json=body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["launch_plan.launches[1].grid[0]"]


@pytest.mark.torch
def test_a_definition_that_is_sent_is_used_also_where_the_catalogue_has_one(wavepool: Wavepool) -> None:
    definition, code = (DEFINITIONS / "relu.py").read_text(), (DEFINITIONS / "relu.hip").read_text()
    story = sent(wavepool, solution_code=code, problem="relu", problem_def=definition)
    assert story[-1].event == "CHECKED", story[-1]
    assert [result["name"] for result in story[-1].data["test_results"]] == [
        *("64x33", "128x100"),
        "4096x8192, made smaller: m=1024, n=2048",
    ]
    story = sent(wavepool, solution_code=code, problem="relu", problem_def=definition, endpoint="sample")
    assert (story[-1].event, story[-1].data["output"]) == ("PASSED", [[0, 0, 0, 0], [0, 1, 2, 3]])


@pytest.mark.torch
def test_a_definition_that_fails_is_the_end_and_no_fault_of_ours(wavepool: Wavepool) -> None:
    code = (DEFINITIONS / "relu.hip").read_text()
    story = sent(wavepool, solution_code=code, problem="mine", problem_def="raise ValueError('no')")
    final = story[-1].data
    assert (final["status"], final["verdict"], final["reason"]) == ("ERROR", "PROBLEM_ERROR", "problem_def:raised")
    assert {frame.event for frame in story} - {"PROVISIONING"} == {"IN_QUEUE", "COMPILING", "ERROR"}


def test_a_program_that_prints_too_much_is_shown_up_to_the_limit(wavepool: Wavepool) -> None:
    code = '#include <stdio.h>\nint main() { if (getchar() == EOF) for (;;) puts("0123456789abcde"); }'
    story = sent(wavepool, solution_code=code, endpoint="sandbox")
    assert story[-1].event == "SANDBOX_OUTPUT_LIMIT", story[-1]
    assert (len(story[-1].data["stdout"]), story[-1].data["truncated"]) == (64 << 10, True)
    lines = [frame.data["line"] for frame in story if frame.event == "SANDBOX_OUTPUT"]
    assert lines == ["0123456789abcde"] * (4 << 10)
