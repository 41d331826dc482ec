"""Mistaken submissions, each with the verdict that it must get; hostile ones are in tests/attacks."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from numpy.typing import NDArray

from problems.kit.definition import Case
from services.executor.core.model.events import Event, Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue
from services.executor.core.run.one_run import run
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS, find_problem

Submit = Callable[..., Awaitable[Finished]]

# name, verdict, reason, text that the message must have
EXPECTED = [
    ("assertion", Verdict.RUNTIME_ERROR, "assert", "n == 12345"),
    ("exception", Verdict.RUNTIME_ERROR, "signal:SIGABRT", "uncaught exception"),
    ("host_crash", Verdict.RUNTIME_ERROR, "signal:SIGSEGV", "SIGSEGV"),
    ("kernel_crash", Verdict.RUNTIME_ERROR, "signal:SIGSEGV", "check indices"),
    ("reads_unwritten", Verdict.NONDETERMINISTIC, "", "two calls with the same inputs"),
    ("wrong_answer", Verdict.WRONG_ANSWER, "", "87,381 of 262,144 elements of `d_output`"),
]


@pytest.mark.parametrize(("name", "verdict", "reason", "said"), EXPECTED, ids=[case[0] for case in EXPECTED])
async def test_each_submission_gets_its_verdict(
    submit: Submit, name: str, verdict: Verdict, reason: str, said: str
) -> None:
    finished = await submit(name)
    assert (finished.verdict, finished.reason) == (verdict, reason), finished
    assert said in finished.message
    assert finished.message.startswith("Case `n = "), finished.message


async def test_a_wrong_answer_shows_its_first_mismatches(submit: Submit, reported: list[Event]) -> None:
    finished = await submit("wrong_answer", Mode.CHECK)
    wrong = finished.wrong_answer
    assert wrong is not None
    assert (wrong.mismatch_count, wrong.element_count) == (87_381, 262_144)
    assert [item.index for item in wrong.first_mismatches[:3]] == [(2,), (5,), (8,)]
    for item in wrong.first_mismatches:
        assert item.output == "d_output"
        assert item.actual - item.expected == pytest.approx(0.5, abs=1e-6)
        assert item.difference == pytest.approx(0.5, abs=1e-6)
    assert wrong.window is not None
    assert (wrong.window.output, wrong.window.origin, wrong.window.rows, wrong.window.columns) == (
        "d_output",
        (0,),
        16,
        16,
    )
    assert wrong.window.wrong == tuple(at % 3 == 2 for at in range(256))
    assert wrong.error_map is not None
    assert (sum(wrong.error_map.wrong), sum(wrong.error_map.compared)) == (87_381, 262_144)
    assert wrong.max_difference == pytest.approx(0.5, abs=1e-3)
    assert 0.1 < wrong.mean_difference < 0.2
    assert not any(result.passed for result in finished.test_results)
    assert [result.not_run for result in finished.test_results] == [False, True, True, True, True]
    assert (finished.passed_tests, finished.total_tests, finished.status) == (0, 5, "WRONG_ANSWER")
    assert reported[-1] == finished


async def test_nan_is_a_mismatch_and_reported_as_nan(submit: Submit) -> None:
    wrong = (await submit("nan_output", Mode.CHECK)).wrong_answer
    assert wrong is not None
    assert math.isnan(wrong.first_mismatches[0].actual)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("compile_error", "line 5: expected ';'"),
        ("kernel_named_solution", "is a __global__ kernel"),
        ("missing_solution", "solution"),
        ("not_extern_c", 'extern "C"'),
    ],
)
async def test_a_source_that_does_not_build_is_refused_with_the_reason(submit: Submit, name: str, said: str) -> None:
    finished = await submit(name)
    assert (finished.verdict, finished.status) == (Verdict.COMPILE_ERROR, "COMPILE_ERROR")
    assert said in finished.message


async def test_the_compilers_whole_text_is_in_the_details(submit: Submit) -> None:
    details = (await submit("compile_error")).details
    assert "solution.hip:5:" in details
    assert "int half = 1" in details


async def test_a_flood_of_output_is_cut_and_no_verdict(context: RunContext) -> None:
    patient = replace(context, limits=replace(context.limits, call_seconds=math.inf))
    source = (SUBMISSIONS / "print_flood.hip").read_text()
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), patient, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED
    assert finished.output_truncated
    assert len(finished.stdout) == 64 << 10
    assert "dropped" in finished.message


async def test_a_misaligned_vector_is_not_said_to_be_outside_of_memory(submit: Submit) -> None:
    finished = await submit("misaligned_vectors", Mode.CHECK)
    assert (finished.verdict, finished.reason) == (Verdict.RUNTIME_ERROR, "misaligned"), finished
    assert "an address that is not a multiple of its size" in finished.message
    assert "`wavepool core check --memcheck` names the line" in finished.message


SHARED_OVERRUN = (SUBMISSIONS / "shared_overrun.hip").read_text()
COOPERATIVE = """
  void* arguments[] = {&d_input1, &d_input2, &d_output, &n};
  (void)hipLaunchCooperativeKernel(add, dim3((n + 255) / 256), dim3(256), arguments, 2 * 256 * sizeof(float), nullptr);
"""


@pytest.mark.parametrize(
    ("launch", "bytes_"),
    [
        ("add<<<(n + 255) / 256, 256, 2 * 256 * sizeof(float)>>>(d_input1, d_input2, d_output, n);", "2,048"),
        ("add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);", "0"),
        (COOPERATIVE, "2,048"),
    ],
)
async def test_a_kernel_that_was_launched_with_too_little_shared_memory_is_reported(
    context: RunContext, launch: str, bytes_: str
) -> None:
    [honest] = [line for line in SHARED_OVERRUN.splitlines() if "<<<" in line]
    job = CoreJob(SHARED_OVERRUN.replace(honest, launch), Mode.SAMPLE, "vector-addition")
    finished = await run(job, context, lambda _: None)
    assert finished.verdict is Verdict.OUT_OF_BOUNDS, finished
    assert f"past the end of its dynamic shared memory: at byte {bytes_}, and it was launched with {bytes_} bytes" in (
        finished.message
    )


async def test_what_is_read_past_the_end_of_dynamic_shared_memory_is_no_number(context: RunContext) -> None:
    reading = SHARED_OVERRUN.replace("float* const sum = arrays + 2 * blockDim.x;", "float* const sum = left;").replace(
        "sum[threadIdx.x] = left[threadIdx.x]", "sum[threadIdx.x] = 0 * arrays[2 * blockDim.x] + left[threadIdx.x]"
    )
    finished = await run(CoreJob(reading, Mode.CHECK, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert "got nan" in finished.message


async def test_the_whole_runs_wall_limit_ends_it(context: RunContext) -> None:
    runner = replace(context.limits.runner, wall=timedelta(seconds=1))
    hurried = replace(context, limits=replace(context.limits, runner=runner))
    source = (SUBMISSIONS / "host_hang.hip").read_text()
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), hurried, lambda _: None)
    assert (finished.verdict, finished.reason) == (Verdict.TIME_LIMIT_EXCEEDED, "wall")
    assert "1 seconds in all" in finished.message


async def test_the_judges_own_work_is_no_time_of_the_submissions(context: RunContext) -> None:
    class Laborious(type(find_problem("vector-addition"))):
        def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
            end = time.monotonic() + runner.wall.total_seconds() / 3
            while time.monotonic() < end:
                expected = super().reference(case, inputs)
            return expected

    runner, laborious = replace(context.limits.runner, wall=timedelta(seconds=4)), Laborious()
    hurried = replace(context, limits=replace(context.limits, runner=runner), find_problem=lambda _: laborious)
    finished = await run(
        CoreJob(catalogue().get("vector-addition").solution, Mode.CHECK, "vector-addition"), hurried, lambda _: None
    )
    assert finished.verdict is Verdict.ACCEPTED, finished


def test_every_submission_is_in_a_test() -> None:
    text = "".join(path.read_text() for path in SUBMISSIONS.parent.rglob("test_*.py"))
    assert [path.stem for path in SUBMISSIONS.glob("*.hip") if f'"{path.stem}' not in text] == []
