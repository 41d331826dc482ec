"""Profiles on the cpu device, whose runtime traces launches, and under profilers that go wrong in every way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.core.model.events import Benchmarked, Event, Finished, Profile, ProfileOutcome, Profiling
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import message_of
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.run.profiling import RESERVED_SECONDS
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.kernel_trace import FILE_NAME
from services.executor.devices.profiling import Extent, ProfileClock, Profiler
from services.executor.devices.sim.sim_device import SimulatedGpu
from services.executor.sandboxes.sandbox import Command, Exit, Limits, PreparedSandbox, Sandbox, SandboxedProcess
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS
from tests.services.executor.core.launching.test_launch_plans import ADD, plan_of

REPOSITORY = Path(__file__).parents[5]
SOURCE = (REPOSITORY / "problems/catalogue/vector-addition/solution.hip").read_text()
KERNEL = "add"
NO_LAUNCHES = """
extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
  for (size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
"""
WRITES_AT_EXIT = (
    """
#include <stdio.h>
#include <stdlib.h>
static void trace() {
  FILE* file = fopen("/profile/FILE_NAME", "w");
  fputs("\\"Kernel_Name\\",\\"Start_Timestamp\\",\\"End_Timestamp\\"\\nfrom atexit,1,2\\n", file);
  fclose(file);
}
static int registered = atexit(trace);
""".replace("FILE_NAME", FILE_NAME)
    + SOURCE
)


class UnderScript(CpuDevice):
    """The cpu device under a profiler that is a shell script; `"$@"` is the program."""

    def __init__(self, script: str) -> None:
        super().__init__()
        self._script = script

    def profile_command(self, command: Command, folder: Path) -> Command:
        command = super().profile_command(command, folder)
        return replace(command, arguments=("/bin/sh", "-c", self._script, "profiler", *command.arguments))


class ExitsNormally(CpuDevice):
    """The cpu device under a profiler that writes when the process exits, as rocprofv3 does."""

    def profile_command(self, command: Command, folder: Path) -> Command:
        command = super().profile_command(command, folder)
        return replace(command, environment={"WAVEPOOL_CPU_WORKERS": "1", "WAVEPOOL_PROFILED": "1"})


class WithoutItsProfiler(CpuDevice):
    def profiler(self) -> Profiler:
        raise ToolchainError("no rocprofv3 at /opt/rocm/bin/rocprofv3; install ROCm's rocprofiler-sdk")


class Breaks(CpuDevice):
    def profiler(self) -> Profiler:
        raise RuntimeError("gone")


async def finished_of(
    context: RunContext, job: CoreJob, reported: list[Event], device: CpuDevice | SimulatedGpu | None = None
) -> Finished:
    context = replace(context, device=device or context.device)
    finished = await run(replace(job, profile=True), context, reported.append)
    message_of(finished)
    assert list(context.scratch_parent.iterdir()) == []
    return finished


def profile_of(finished: Finished) -> Profile:
    assert finished.profile is not None
    return finished.profile


def assert_untouched(finished: Finished, reported: list[Event]) -> None:
    """The run is accepted, and its times are those that were reported before the profile began."""
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert not finished.unkillable
    assert (finished.stdout, finished.stderr) == ("", "")
    kinds = [type(event) for event in reported]
    assert kinds.index(Benchmarked) < kinds.index(Profiling)
    assert finished.benchmarked is not None
    assert finished.benchmarked == reported[kinds.index(Benchmarked)]


async def test_a_profile_has_the_kernels_of_the_largest_case(context: RunContext, reported: list[Event]) -> None:
    finished = await finished_of(context, CoreJob(SOURCE, Mode.FULL, "vector-addition"), reported)
    assert_untouched(finished, reported)
    profile = profile_of(finished)
    assert (profile.outcome, profile.note, profile.clock) == (ProfileOutcome.MADE, "", ProfileClock.HOST)
    [kernel] = profile.kernels
    assert kernel.name == KERNEL
    assert kernel.calls == profile.solution_calls
    assert 0 < kernel.min_ns <= kernel.mean_ns <= kernel.max_ns <= kernel.total_ns
    assert kernel.block == Extent(256, 1, 1)
    problem = context.find_problem("vector-addition")
    largest = max(problem.sizes.of(CoreJob("", Mode.FULL).size_set), key=problem.bytes)
    assert profile.name == largest.name
    assert kernel.grid is not None
    assert kernel.vgpr is None


async def test_a_check_alone_can_have_a_profile(context: RunContext, reported: list[Event]) -> None:
    finished = await finished_of(context, CoreJob(SOURCE, Mode.CHECK, "vector-addition"), reported)
    assert (finished.verdict, finished.benchmarked) == (Verdict.ACCEPTED, None)
    assert profile_of(finished).kernels[0].name == KERNEL


async def test_kernels_that_came_with_a_launch_plan_are_profiled_too(
    context: RunContext, reported: list[Event]
) -> None:
    kernels = ADD.replace("BEFORE", "").replace("INSIDE", "")
    job = CoreJob(kernels, Mode.CHECK, "vector-addition", launch_plan=plan_of())
    profile = profile_of(await finished_of(context, job, reported))
    assert [kernel.calls for kernel in profile.kernels] == [profile.solution_calls]


async def test_nothing_is_profiled_unless_it_is_asked_for(context: RunContext, reported: list[Event]) -> None:
    finished = await run(CoreJob(SOURCE, Mode.CHECK, "vector-addition"), context, reported.append)
    assert finished.profile is None
    assert Profiling not in map(type, reported)


async def test_a_solution_that_launches_nothing_has_an_empty_profile(
    context: RunContext, reported: list[Event]
) -> None:
    finished = await finished_of(context, CoreJob(NO_LAUNCHES, Mode.CHECK, "vector-addition"), reported)
    profile = profile_of(finished)
    assert finished.verdict is Verdict.ACCEPTED
    assert profile.kernels == ()
    assert profile.note


@pytest.mark.parametrize(
    ("script", "note"),
    # Where there is no note, the launches may have been written before the end.
    [
        ("echo no permission >&2; exit 3", "first call (exit status 3); printed last: no permission"),
        ("kill -9 $$", "failed: "),
        ('"$@" & sleep 0.2; kill -9 $$', None),
        (f'"$@"; head -c 1000 /dev/urandom >/profile/{FILE_NAME}', "failed: "),
        (f'"$@"; rm /profile/{FILE_NAME}; mkfifo /profile/{FILE_NAME}', "left no trace"),
        (f'"$@"; truncate -s 65M /profile/{FILE_NAME}', "left no trace"),
        (f'"$@"; yes >/profile/{FILE_NAME}; echo full >&2', "failed: "),
    ],
)
async def test_a_profiler_that_goes_wrong_changes_neither_verdict_nor_time(
    context: RunContext, reported: list[Event], script: str, note: str | None
) -> None:
    job = CoreJob(SOURCE, Mode.FULL, "vector-addition")
    finished = await finished_of(context, job, reported, UnderScript(script))
    assert_untouched(finished, reported)
    profile = profile_of(finished)
    if note is not None:
        assert profile.outcome is ProfileOutcome.FAILED
        assert note in profile.note
        assert profile.kernels == ()


async def test_a_profiler_that_never_ends_is_stopped_in_time(context: RunContext, reported: list[Event]) -> None:
    context = replace(context, limits=replace(context.limits, profile_seconds=1.5, start_seconds=60))
    job = CoreJob(SOURCE, Mode.FULL, "vector-addition")
    finished = await finished_of(context, job, reported, UnderScript("while :; do sleep 1000; done"))
    assert_untouched(finished, reported)
    assert profile_of(finished).note == "failed: wavepool cpu runtime was not done after 1.5 s"
    assert finished.stage_seconds["profile"] < 30


class KeepsProcesses:
    """A process that SIGKILL does not end."""

    def __init__(self, process: SandboxedProcess) -> None:
        self._process = process

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)

    async def wait(self) -> Exit:
        return replace(await self._process.wait(), unkillable=True)


class LeavesProcesses:
    """A sandbox that was made for a profile, and in which some processes stay behind."""

    def __init__(self, prepared: PreparedSandbox) -> None:
        self._prepared = prepared

    def __getattr__(self, name: str) -> Any:
        return getattr(self._prepared, name)

    async def start(self, *rest: Any) -> Any:
        return KeepsProcesses(await self._prepared.start(*rest))


class LeavingSandboxes:
    """Sandboxes of which those for profiles leave processes."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    async def prepare(self, command: Command, limits: Limits) -> Any:
        prepared = await self._sandbox.prepare(command, limits)
        return LeavesProcesses(prepared) if "WAVEPOOL_KERNEL_TRACE" in command.environment else prepared

    async def start(self, command: Command, limits: Limits, *rest: Any) -> Any:
        return await (await self.prepare(command, limits)).start(*rest)


async def test_a_profile_that_leaves_processes_costs_the_machine_and_not_the_verdict(
    context: RunContext, reported: list[Event]
) -> None:
    context = replace(context, sandbox=cast("Any", LeavingSandboxes(context.sandbox)))
    finished = await finished_of(context, CoreJob(SOURCE, Mode.CHECK, "vector-addition"), reported)
    assert (finished.verdict, finished.unkillable) == (Verdict.ACCEPTED, True)
    assert profile_of(finished).outcome is ProfileOutcome.FAILED


async def test_a_run_with_too_little_time_left_makes_no_profile(context: RunContext, reported: list[Event]) -> None:
    job = CoreJob(SOURCE, Mode.CHECK, "vector-addition", longest_seconds=RESERVED_SECONDS)
    finished = await finished_of(context, job, reported)
    assert finished.verdict is Verdict.ACCEPTED
    assert profile_of(finished).outcome is ProfileOutcome.SKIPPED
    assert "of the run's time limit were left" in profile_of(finished).note
    assert Profiling not in map(type, reported)


async def test_a_run_that_is_not_accepted_has_no_profile(context: RunContext, reported: list[Event]) -> None:
    wrong = (SUBMISSIONS / "wrong_answer.hip").read_text()
    finished = await finished_of(context, CoreJob(wrong, Mode.FULL, "vector-addition"), reported)
    assert finished.verdict is Verdict.WRONG_ANSWER
    profile = profile_of(finished)
    assert (profile.outcome, profile.note) == (ProfileOutcome.SKIPPED, "not made: the run ended with WRONG_ANSWER")


async def test_a_device_without_a_profiler_says_so(context: RunContext, reported: list[Event]) -> None:
    job = CoreJob(SOURCE, Mode.CHECK, "vector-addition")
    profile = profile_of(await finished_of(context, job, reported, SimulatedGpu()))
    assert profile.outcome is ProfileOutcome.UNAVAILABLE
    assert profile.note == "not available on this device: sim: its times are made up"
    profile = profile_of(await finished_of(context, job, reported, WithoutItsProfiler()))
    assert profile.outcome is ProfileOutcome.UNAVAILABLE
    assert profile.note.startswith("not available on this device: no rocprofv3 at")


async def test_a_fault_of_our_own_in_a_profile_leaves_the_verdict(context: RunContext, reported: list[Event]) -> None:
    job = CoreJob(SOURCE, Mode.CHECK, "vector-addition")
    finished = await finished_of(context, job, reported, Breaks())
    assert finished.verdict is Verdict.ACCEPTED
    assert profile_of(finished).note == "failed: the judge: RuntimeError: gone"


async def test_a_profiler_may_write_when_the_runner_exits(context: RunContext, reported: list[Event]) -> None:
    """Otherwise the runner ends without the handlers of `atexit`, and rocprofv3 would write nothing."""
    job = CoreJob(WRITES_AT_EXIT, Mode.CHECK, "vector-addition")
    profile = profile_of(await finished_of(context, job, reported, ExitsNormally()))
    assert [kernel.name for kernel in profile.kernels] == ["from atexit"], profile.note
