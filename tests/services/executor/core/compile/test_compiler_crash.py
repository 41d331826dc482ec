"""A compiler that crashes on one source only is reported to the author; one that always crashes is our fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CompileCache
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Command, Mount
from submissions.modes import Mode

# Clang's own way to have itself crash.
CRASHING = """
#include <hip/hip_runtime.h>
extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {}
#pragma clang __debug parser_crash
"""


class ScriptedCompiler:
    """A device whose compiler is a script; `$1` is the source."""

    def __init__(self, script: str) -> None:
        self._script = script

    def describe(self) -> DeviceDescription:
        return DeviceDescription("cpu", "A Test 3000", "x86_64", 64, 2, 1024, is_gpu=False)

    def toolchain(self) -> Toolchain:
        return Toolchain(self._script, "scripted")

    def build_command(self, folder: Path, kind: Any) -> Command:
        mounts = [Mount(folder, Path("/build"), writable=True)]
        arguments = ["/bin/bash", "-c", self._script, "bash", "solution.hip"]
        return Command(arguments, Path("/build"), mounts, {"PATH": "/usr/bin:/bin"})

    def run_command(self, folder: Path, kind: Any) -> Command:
        raise NotImplementedError


async def _failure_of(script: str, builds: CompileCache, tmp_path: Path) -> Failure:
    scratch = tmp_path / "compile"
    scratch.mkdir(mode=0o755)
    builder = Builder(ScriptedCompiler(script), await choose_sandbox("auto"), builds, StageLimits().builder)
    unit = Unit(BuildKind.SOLUTION, "THEIRS", "harness", "declaration")
    with pytest.raises(Failure) as caught:
        await builder.build(unit, scratch, tmp_path)
    return caught.value


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.SANDBOX])
async def test_a_source_that_makes_clang_crash_is_a_compile_error(context: RunContext, mode: Mode) -> None:
    finished = await run(CoreJob(CRASHING, mode, "vector-addition"), context, lambda _: None)
    assert (finished.verdict, finished.reason) == (Verdict.COMPILE_ERROR, "compiler_crash"), finished
    assert "The compiler itself crashed on this source (SIG" in finished.message
    assert list(context.scratch_parent.iterdir()) == []


@pytest.mark.parametrize(
    ("ending", "how"),
    [
        ("kill -SEGV $$", "SIGSEGV"),
        ("exit 139", "SIGSEGV"),
        ("exit 254", "crash of a part of it"),
        ("exit 70", "fatal error in its back end"),
        ("exit 2", "status 2"),
        ("exit 0", "runner"),
        ("echo \"nvcc error: 'cicc' died due to signal 11\" >&2; exit 1", "died due to signal"),
    ],
)
async def test_a_compiler_that_works_on_other_sources_met_a_bug_of_its_own(
    builds: CompileCache, tmp_path: Path, ending: str, how: str
) -> None:
    script = f"if grep -q THEIRS $1; then echo last words >&2; {ending}; fi"
    failure = await _failure_of(script, builds, tmp_path)
    assert (failure.verdict, failure.reason) == (Verdict.COMPILE_ERROR, "compiler_crash")
    assert how in failure.message
    assert "last words" in failure.details
    assert failure.details.splitlines()[-1] in failure.message


@pytest.mark.parametrize("ending", ["kill -SEGV $$", "exit 139", "exit 254", "exit 2", "no-such-compiler $1"])
async def test_a_compiler_that_works_on_no_source_is_our_fault(
    builds: CompileCache, tmp_path: Path, ending: str
) -> None:
    failure = await _failure_of(f"echo last words >&2; {ending}", builds, tmp_path)
    assert failure.verdict is Verdict.INFRA_ERROR
    assert "last words" in failure.details


async def test_a_machine_without_room_for_a_process_is_our_fault_whatever_it_does_next(
    builds: CompileCache, tmp_path: Path
) -> None:
    failure = await _failure_of("if grep -q THEIRS $1; then echo no room >&2; exit 75; fi", builds, tmp_path)
    assert failure.verdict is Verdict.INFRA_ERROR
    assert failure.details == "no room"


async def test_words_of_a_crash_in_an_error_of_the_source_are_no_crash(builds: CompileCache, tmp_path: Path) -> None:
    script = "echo 'solution.hip:3:2: error: PLEASE submit a bug report' >&2; exit 1"
    failure = await _failure_of(script, builds, tmp_path)
    assert (failure.verdict, failure.reason) == (Verdict.COMPILE_ERROR, "")


async def test_warnings_without_a_line_are_left_out(builds: CompileCache, tmp_path: Path) -> None:
    script = "echo 'warning: <unknown>:0:0: loop not unrolled: the optimizer was unable' >&2; "
    script += "echo 'solution.hip:3:2: warning: unused' >&2; echo built >solution.o; echo built >runner"
    scratch = tmp_path / "compile"
    scratch.mkdir(mode=0o755)
    builder = Builder(ScriptedCompiler(script), await choose_sandbox("auto"), builds, StageLimits().builder)
    build = await builder.build(Unit(BuildKind.SOLUTION, "", "harness", ""), scratch, tmp_path)
    assert build.warnings == "solution.hip:3:2: warning: unused"
