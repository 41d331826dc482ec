from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.run.playground import LineTeller
from submissions.modes import Mode

PROGRAM = """
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__global__ void twice(int* value) { value[threadIdx.x] *= 2; }
int main() {
  int host[4] = {1, 2, 3, 4};
  int* device;
  hipMalloc(&device, sizeof host);
  hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice);
  twice<<<1, 4>>>(device);
  hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
  printf("%d %d\\n%d %d", host[0], host[1], host[2], host[3]);
  fprintf(stderr, "to stderr\\n");
  ENDING
}
"""


async def _run(context: RunContext, ending: str, reported: list[events.Event]) -> events.Finished:
    return await run(CoreJob(PROGRAM.replace("ENDING", ending), Mode.SANDBOX), context, reported.append)


async def test_a_program_runs_kernels_and_its_lines_are_events(
    context: RunContext, reported: list[events.Event]
) -> None:
    finished = await _run(context, "return 0;", reported)
    assert (finished.verdict, finished.status) == (Verdict.ACCEPTED, "SANDBOX_SUCCESS")
    assert finished.program == events.ProgramResult(0, "2 4\n6 8", "to stderr\n", truncated=False)
    lines = {(event.stream, event.line) for event in reported if isinstance(event, events.ProgramOutput)}
    assert lines == {("stdout", "2 4"), ("stdout", "6 8"), ("stderr", "to stderr")}
    names = [type(event).__name__ for event in reported]
    assert names == ["Compiling", "Compiled", "ProgramStarted", *["ProgramOutput"] * 3, "Finished"]


async def test_a_run_says_by_which_command_its_source_was_compiled(
    context: RunContext, reported: list[events.Event]
) -> None:
    finished = await _run(context, "return 0;", reported)
    [command] = [event.command for event in reported if isinstance(event, events.Compiling)]
    program, *words = shlex.split(command)
    assert (program, words[-1]) == ("zig", "solution.hip")
    assert "-x hip -disable-llvm-passes" in command
    assert not [word for word in words if word.startswith(("-isystem", "-I", "-D"))]
    assert finished.report["compile_command"] == command


@pytest.mark.parametrize(
    ("ending", "verdict", "status", "return_code"),
    [
        ("return 7;", Verdict.RUNTIME_ERROR, "SANDBOX_ERROR", 7),
        ("abort();", Verdict.RUNTIME_ERROR, "SANDBOX_ERROR", -6),
    ],
)  # fmt: skip
async def test_a_program_that_ends_badly_says_how(
    context: RunContext, reported: list[events.Event], ending: str, verdict: Verdict, status: str, return_code: int
) -> None:
    finished = await _run(context, ending, reported)
    assert (finished.verdict, finished.status) == (verdict, status)
    assert finished.program is not None
    assert finished.program.return_code == return_code
    assert not finished.program.truncated


async def test_a_program_that_prints_without_end_is_cut_off_at_the_limit(
    context: RunContext, reported: list[events.Event]
) -> None:
    finished = await _run(context, 'for (;;) puts("xxxx");', reported)
    assert (finished.verdict, finished.status) == (Verdict.OUTPUT_LIMIT_EXCEEDED, "SANDBOX_OUTPUT_LIMIT")
    assert finished.program is not None
    assert (len(finished.program.stdout), finished.program.truncated) == (64 << 10, True)
    lines = [event.line for event in reported if isinstance(event, events.ProgramOutput) and event.stream == "stdout"]
    assert "\n".join(lines) == finished.program.stdout


async def test_a_program_may_print_exactly_the_limit(context: RunContext, reported: list[events.Event]) -> None:
    ending = "for (int i = 7; i < 64 << 10; ++i) putchar(i % 64 ? 46 : 10); return 0;"
    finished = await _run(context, ending, reported)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.program is not None
    assert (len(finished.program.stdout), finished.program.truncated) == (64 << 10, False)


async def test_a_program_reads_nothing(context: RunContext, reported: list[events.Event]) -> None:
    assert (await _run(context, "return getchar() == EOF ? 0 : 1;", reported)).verdict is Verdict.ACCEPTED


async def test_a_program_that_does_not_end_is_ended(context: RunContext, reported: list[events.Event]) -> None:
    # On a busy machine it may need seconds until it has printed something.
    program = replace(context.limits.program, wall=timedelta(seconds=5))
    hurried = replace(context, limits=replace(context.limits, program=program))
    finished = await _run(hurried, "fflush(stdout); for (;;) pause();", reported)
    assert (finished.verdict, finished.status) == (Verdict.TIME_LIMIT_EXCEEDED, "SANDBOX_TIMEOUT")
    assert finished.program is not None
    assert finished.program.stdout == "2 4\n6 8"


async def test_a_program_without_main_does_not_build(context: RunContext, reported: list[events.Event]) -> None:
    finished = await run(CoreJob("int answer() { return 42; }", Mode.SANDBOX), context, reported.append)
    assert finished.verdict is Verdict.COMPILE_ERROR
    assert "main" in finished.message


@given(st.text(alphabet=st.sampled_from("aé\n€😀"), max_size=60), st.integers(1, 7))
def test_lines_are_the_same_however_the_bytes_were_cut(text: str, size: int) -> None:
    reported: list[events.ProgramOutput] = []
    teller = LineTeller(reported.append, clock=lambda: 1.5)
    data = text.encode()
    for at in range(0, len(data), size):
        teller.take("stdout", data[at : at + size])
    teller.finish()
    expected = text.split("\n")
    assert [event.line for event in reported] == (expected if expected[-1] else expected[:-1])
    assert {event.timestamp_ms for event in reported} <= {1500}


def test_bytes_that_are_no_text_and_endless_lines_are_reported_too() -> None:
    reported: list[events.ProgramOutput] = []
    teller = LineTeller(reported.append)
    teller.take("stderr", b"\xff\xfe\n" + b"x" * 10_000)
    teller.finish()
    assert [len(event.line) for event in reported] == [2, 4096, 4096, 1808]
    assert reported[0].line == "\N{REPLACEMENT CHARACTER}" * 2
