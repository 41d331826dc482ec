"""Contract D on the cpu device: kernels and a plan in, a verdict out."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.executor.core.audit.judge_clock import CPU_RULE
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.launching.launched_problem import launched
from services.executor.core.launching.program import described
from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run import benchmarking
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import Timing
from services.executor.core.timing.case_timing import BUSY, LAUNCHED_BY_SUBMISSION
from submissions.modes import Mode

PLANS = Path(__file__).parents[1] / "launch_plans"
ADD = """
#include <hip/hip_runtime.h>
#include <stdio.h>
BEFORE
extern "C" __global__ void add(const float* a, const float* b, float* c, size_t n, float scale) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + scale * b[i];
  INSIDE
}
"""
LAUNCH: dict[str, Any] = {
    "kernel": "add",
    "grid": ["ceil_div(n, 256)"],
    "block": [256],
    "args": ["d_input1", "d_input2", "d_output", "n", {"type": "float", "value": 1}],
}

HOST = """
extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
  add<<<(n + 255) / 256, 256>>>(a, b, c, n, 1.0f);
}
"""


def sent_to_nobody(event: events.Event) -> None:
    del event


def plan_of(*launches: dict[str, Any], **rest: Any) -> str:
    return json.dumps({"launches": [LAUNCH | launch for launch in launches or ({},)], **rest})


async def judged(
    context: RunContext, plan: str = "", *, before: str = "", inside: str = "", mode: Mode = Mode.CHECK
) -> events.Finished:
    source = ADD.replace("BEFORE", before).replace("INSIDE", inside)
    job = CoreJob(source, mode, "vector-addition", launch_plan=plan or plan_of())
    return await run(job, context, lambda _: None)


@pytest.mark.parametrize("problem", ["matrix-multiplication", "softmax"])
async def test_kernels_that_a_plan_launches_are_judged_like_any_solution(context: RunContext, problem: str) -> None:
    source, plan = (PLANS / f"{problem}.hip").read_text(), (PLANS / f"{problem}.json").read_text()
    finished = await run(CoreJob(source, Mode.CHECK, problem, launch_plan=plan), context, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.report["contract"] == "D"
    assert len(str(finished.report["launch_plan_sha256"])) == 64


def test_a_plan_is_a_launch_program_of_each_calls_sizes(context: RunContext) -> None:
    scratch = [{"name": "room", "bytes": "4 * n"}]
    args = ["d_input1", "room", "d_output", "n", {"type": "float", "value": 1}]
    plan = plan_of({"grid": ["ceil_div(n, 256)", 2], "lds_bytes": 64, "args": args}, scratch=scratch)
    problem = launched(context.find_problem("vector-addition"), plan, context.device.describe())
    names = [parameter.name for parameter in problem.parameters]
    for case in problem.sizes.cpu[:2]:
        inputs = problem.inputs(case, np.random.default_rng(1))
        blocks = -(-inputs["n"] // 256)
        (line,) = described(problem.program(case, inputs), names)
        assert (
            line.split()
            == (
                f"launch add(d_input1, room, d_output, n, {0x3F800000}) with grid {blocks} x 2 x 1, block 256 x 1 x 1, "
                "64 bytes of dynamic LDS"
            ).split()
        )


async def test_a_plan_is_benchmarked_too(context: RunContext) -> None:
    finished = await judged(context, mode=Mode.FULL)
    assert finished.status in {"ACCEPTED", "ERROR"}, finished
    assert finished.benchmarked is not None, finished
    # Our own runner launches: only a busy machine keeps the time from being valid.
    assert LAUNCHED_BY_SUBMISSION not in finished.benchmarked.unproven_because
    is_known = finished.benchmarked.timing in {Timing.VALID, Timing.UNSTABLE}
    assert is_known or BUSY in finished.benchmarked.unproven_because, finished


@pytest.mark.parametrize(("launched_by", "tries"), [("plan", 2), ("recording", 2), ("solution", 1)])
async def test_a_time_that_no_clock_bears_out_is_tried_twice_and_never_valid(
    context: RunContext, monkeypatch: pytest.MonkeyPatch, launched_by: str, tries: int
) -> None:
    opened: list[Path] = []
    open_session = RunnerSession.open

    def counted(self: RunnerSession, build: Path) -> AbstractAsyncContextManager[None]:
        opened.append(build)
        return open_session(self, build)

    monkeypatch.setattr(RunnerSession, "open", counted)
    # Every claim is far too short for this rule.
    hopeless = replace(CPU_RULE, least_share_of_wall=1e6, slack_ns=0, most_null_ns=0)
    monkeypatch.setattr(benchmarking, "CPU_RULE", hopeless)
    read_back = "float first; hipMemcpy(&first, c, 4, hipMemcpyDeviceToHost);" if launched_by == "solution" else ""
    source = ADD.replace("BEFORE", "").replace("INSIDE", "") + HOST.replace("1.0f);", f"1.0f);{read_back}")
    plan = plan_of() if launched_by == "plan" else ""
    finished = await run(CoreJob(source, Mode.BENCHMARK, "vector-addition", launch_plan=plan), context, sent_to_nobody)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.benchmarked is not None
    assert {result.timing for result in finished.benchmarked.results} == {Timing.UNPROVEN}
    by_us = launched_by != "solution"
    # If the solution launches by itself, a busy machine may be a second reason; it causes no retry.
    assert BUSY in finished.message or not by_us
    # Beside the check's and our own runner, each try has three sessions, and one for the chains of the calls that we
    # launch. If the solution itself is not timed, one more session calls it.
    assert len(opened) == 2 + (launched_by == "recording") + tries * (3 + by_us)


async def test_no_host_code_of_the_submission_runs(context: RunContext) -> None:
    before = 'struct Loud { Loud() { fprintf(stderr, "constructed\\n"); *(volatile int*)0 = 1; } } loud;'
    finished = await judged(context, before=before + ' int main() { puts("main"); return 3; }')
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.stdout + finished.stderr == ""


async def test_a_wrong_kernel_is_a_wrong_answer(context: RunContext) -> None:
    args = [*LAUNCH["args"][:-1], {"type": "float", "value": 2}]
    assert (await judged(context, plan_of({"args": args}))).verdict is Verdict.WRONG_ANSWER


def _through_scratch(initial: str) -> str:
    """A plan that adds only the zeroed scratch first, and then the second input."""
    scratch = [{"name": "nothing", "bytes": "4 * n", "initial": initial}]
    one = LAUNCH["args"][-1]
    first = {"args": ["d_input1", "nothing", "d_output", "n", one]}
    return plan_of(first, {"args": ["d_output", "d_input2", "d_output", "n", one]}, scratch=scratch)


async def test_scratch_is_zero_where_the_plan_says_so_and_random_bits_elsewhere(context: RunContext) -> None:
    assert (await judged(context, _through_scratch("zero"))).verdict is Verdict.ACCEPTED
    assert (await judged(context, _through_scratch("uninitialized"))).verdict is Verdict.WRONG_ANSWER


async def test_a_kernel_that_writes_beside_its_scratch_is_found_out(context: RunContext) -> None:
    plan = _through_scratch("zero").replace('"d_input1", "nothing", "d_output"', '"d_input1", "d_input2", "nothing"')
    finished = await judged(context, plan.replace("4 * n", "4 * n - 64"))
    assert finished.verdict is Verdict.OUT_OF_BOUNDS, finished
    assert "`nothing`" in finished.message


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("{}", "launch_plan.launches: is required"),
        (plan_of({"grid": [1, "n - n"]}), "launch_plan.launches[0].grid[1]: `n - n` is 0"),
        (plan_of({"block": ["n"]}), "launch_plan.launches[0].block[0]"),
        (plan_of({}, {"lds_bytes": 1 << 20}), "launch_plan.launches[1].lds_bytes"),
    ],
)
async def test_a_plan_that_does_not_fit_is_a_launch_error_with_the_place(
    context: RunContext, plan: str, said: str
) -> None:
    finished = await judged(context, plan)
    assert (finished.verdict, finished.reason) == (Verdict.LAUNCH_ERROR, "launch_plan")
    assert said in finished.message


@pytest.mark.parametrize(
    ("plan", "before", "inside", "said"),
    [
        (plan_of({"kernel": "sub"}), "", "", "launches `sub`"),
        (plan_of({"args": LAUNCH["args"][:3]}), "", "", "3 arguments, and the kernel has 5 parameters"),
        (plan_of(), "#include <stdlib.h>", 'if (n == 3) system("id");', "`system`, which no device has"),
        (
            plan_of(),
            'extern "C" __device__ bool __wp_hold(void*, unsigned long);',
            "if (n == 3) __wp_hold(nullptr, 1);",
            "`__wp_hold`, which no device has",
        ),
        (plan_of(), "", 'asm volatile("syscall");', "assembly"),
    ],
)
async def test_kernels_that_no_device_could_run_do_not_compile(
    context: RunContext, plan: str, before: str, inside: str, said: str
) -> None:
    finished = await judged(context, plan, before=before, inside=inside)
    assert finished.verdict in {Verdict.COMPILE_ERROR, Verdict.FORBIDDEN_SOURCE}, finished
    assert said in f"{finished.message} {finished.details}", finished


async def test_launches_run_in_their_order(context: RunContext) -> None:
    first = [*LAUNCH["args"][:-1], {"type": "float", "value": 7}]
    assert (await judged(context, plan_of({"args": first}, {}))).verdict is Verdict.ACCEPTED
    assert (await judged(context, plan_of({}, {"args": first}))).verdict is Verdict.WRONG_ANSWER
