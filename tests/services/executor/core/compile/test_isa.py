"""Reports from sandboxes: whatever a sandbox leaves, the run goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.core.compile import isa
from services.executor.core.compile.cache import CompileCache
from services.executor.core.compile.isa import MAX_SHOWN_KERNELS, IsaReporter, shown
from services.executor.core.model.events import Checking, Compiled, Compiling, Event, Finished
from services.executor.core.model.isa_report import IsaReport, KernelHint, KernelReport
from services.executor.core.model.job import CoreJob
from services.executor.core.model.plain import plain
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import Toolchain
from services.executor.devices.gfx942.inspector import Gfx942Inspector
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Command, Mount
from submissions.modes import Mode

KERNEL = KernelReport(8, 16, 0, 0, 0, 0, 8, "_Z1k", 3, hints=(KernelHint("spills", 4, "what", "why", "advice"),))
REPORT = IsaReport("clang", "note", {"k": KERNEL})
REFUSED = IsaReport("clang", "refused", refused="AMD's compiler refuses this: line 7: no such operator (HIP 7.2).")
SOLUTION = (Path(__file__).parents[5] / "problems" / "catalogue" / "vector-addition" / "solution.hip").read_text()
HALF_TIMES_FLOAT = (Path(__file__).parents[2] / "devices" / "gfx942" / "refused" / "half_times_float.hip").read_text()
# AMD's compiler has this instruction; it is for graphics, and the cpu device lacks it.
CUBE_SOURCE = """#include <hip/hip_runtime.h>
__global__ void face(const float* a, float* b) { b[0] = __builtin_amdgcn_cubeid(a[0], a[1], a[2]); }
extern "C" void solution(const float* a, const float* b, float* c, size_t n) { face<<<1, 64>>>(a, c); }
"""


@dataclass
class ScriptedInspector:
    """Runs a shell script in the sandbox; `asked` counts how often."""

    script: str
    asked: int = 0
    missing: str = ""
    mounts: list[Mount] = field(default_factory=list[Mount])
    folders: list[Path] = field(default_factory=list[Path])

    def toolchain(self) -> Toolchain:
        if self.missing:
            raise ToolchainError(self.missing)
        return Toolchain(f"scripted {self.script}", "scripted clang")

    def command(self, folder: Path) -> Command:
        self.asked += 1
        self.folders.append(folder)
        mounts = [Mount(folder, Path("/build"), writable=True), *self.mounts]
        return Command(["/bin/sh", "-c", self.script], Path("/build"), mounts, {})


def _leaving(text: str) -> str:
    return f"cat > report.json <<'END'\n{text}\nEND"


@pytest.fixture
async def reporter(tmp_path: Path) -> IsaReporter:
    cache = CompileCache(tmp_path / "cache", 1 << 24)
    return IsaReporter(ScriptedInspector("exit 1"), await choose_sandbox("auto"), cache)


async def _inspect(reporter: IsaReporter, script: str, tmp_path: Path) -> isa.Inspection:
    return await replace(reporter, inspector=ScriptedInspector(script)).inspect("source", tmp_path / "isa")


async def test_a_report_is_read_and_kept_for_the_next_time(reporter: IsaReporter, tmp_path: Path) -> None:
    inspector = ScriptedInspector(_leaving(json.dumps({**plain(REPORT), "listing": "s_endpgm"})))
    reporter = replace(reporter, inspector=inspector)
    first = await reporter.inspect("source", tmp_path / "one")
    second = await reporter.inspect("source", tmp_path / "two")
    assert first == second == isa.Inspection(REPORT, "s_endpgm")
    assert inspector.asked == 1
    await reporter.inspect("another source", tmp_path / "three")
    assert inspector.asked == 2


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo the compiler broke >&2; exit 2", "the compiler broke"),
        ("exit 0", "No such file"),
        ("kill -SEGV $$", "signal"),
        (_leaving("not JSON"), "Expecting value"),
        (_leaving("[1]"), "no object"),
        (_leaving('{"kernels": {"k": {"vgpr": "many"}}}'), "kernels.k.vgpr: Input should be a valid integer"),
        (_leaving('{"kernels": {"k": {}}}'), "kernels.k.vgpr: Field required"),
        ("ln -s /etc/hostname report.json", "symbolic"),
        ("mkdir report.json", "no regular file"),
        ("mkfifo report.json", "no regular file"),
        ("head -c 5000000 /dev/zero > report.json", "at most"),
    ],
)
async def test_whatever_is_left_instead_of_a_report_is_said_and_harmless(
    reporter: IsaReporter, tmp_path: Path, script: str, reason: str
) -> None:
    inspection = await _inspect(reporter, script, tmp_path)
    assert inspection.report.kernels == {}
    assert "the run is not touched" in inspection.report.note
    assert reason in inspection.report.note


@pytest.mark.parametrize("script", ["sleep 100", "while :; do :; done"])
async def test_a_compiler_that_hangs_is_ended(reporter: IsaReporter, tmp_path: Path, script: str) -> None:
    reporter = replace(reporter, limits=replace(reporter.limits, wall=timedelta(seconds=1)))
    inspection = await _inspect(reporter, script, tmp_path)
    assert inspection.report.note.endswith("It took too long.")


async def test_a_missing_compiler_is_said(reporter: IsaReporter, tmp_path: Path) -> None:
    reporter = replace(reporter, inspector=ScriptedInspector("", missing="install ziglang"))
    inspection = await reporter.inspect("source", tmp_path / "isa")
    assert inspection.report.note == "There is no compiler for the MI300X here: install ziglang"


async def test_long_names_and_notes_are_cut(reporter: IsaReporter, tmp_path: Path) -> None:
    flood = replace(REPORT, note="n" * 100_000, kernels={"k" * 100_000: replace(KERNEL, symbol="s" * 100_000)})
    inspection = await _inspect(reporter, _leaving(json.dumps(plain(flood))), tmp_path)
    assert len(json.dumps(plain(inspection.report))) < 5_000


def test_events_carry_the_first_kernels_and_those_with_hints_before_others() -> None:
    plain_kernel = replace(KERNEL, hints=())
    kernels = {str(number): plain_kernel for number in range(99)} | {"hinted": KERNEL}
    report = shown(IsaReport(kernels=kernels))
    assert len(report.kernels) == MAX_SHOWN_KERNELS
    assert "hinted" in report.kernels
    assert "32 of 100 kernels" in report.note


def _compiled(reported: list[Event]) -> Compiled:
    return next(event for event in reported if isinstance(event, Compiled))


async def _checked(source: str, context: RunContext, reported: list[Event]) -> Finished:
    return await run(CoreJob(source, Mode.CHECK, "vector-addition"), context, reported.append)


@pytest.mark.hip_headers
async def test_a_compile_tells_what_the_mi300x_would_make_of_it(context: RunContext, reported: list[Event]) -> None:
    finished = await _checked(SOLUTION, replace(context, inspector=Gfx942Inspector()), reported)
    assert finished.verdict is Verdict.ACCEPTED
    report = _compiled(reported).isa
    assert report.note == ""
    assert report.kernels["add"].occupancy == 8
    assert "s_endpgm" in _compiled(reported).isa_listing


@pytest.mark.hip_headers
async def test_a_source_that_this_machine_refuses_gets_its_report(context: RunContext, reported: list[Event]) -> None:
    finished = await _checked(CUBE_SOURCE, replace(context, inspector=Gfx942Inspector()), reported)
    assert finished.verdict is Verdict.COMPILE_ERROR
    assert finished.isa is not None
    assert list(finished.isa.kernels) == ["face"]


async def test_a_report_that_fails_does_not_fail_the_run(context: RunContext, reported: list[Event]) -> None:
    inspector: Any = ScriptedInspector("exit 7")
    finished = await _checked(SOLUTION, replace(context, inspector=inspector), reported)
    assert finished.verdict is Verdict.ACCEPTED
    assert "status 7" in _compiled(reported).isa.note
    assert not inspector.folders[0].exists()


async def test_what_amds_compiler_refuses_is_beside_the_verdict(context: RunContext, reported: list[Event]) -> None:
    inspector: Any = ScriptedInspector(_leaving(json.dumps(plain(REFUSED))))
    finished = await _checked(SOLUTION, replace(context, inspector=inspector), reported)
    assert finished.verdict is Verdict.ACCEPTED
    assert finished.message.endswith(REFUSED.refused)
    assert _compiled(reported).warnings.splitlines()[0] == REFUSED.refused


async def test_what_amds_compiler_refuses_is_beside_a_wrong_answer_too(
    context: RunContext, reported: list[Event]
) -> None:
    inspector: Any = ScriptedInspector(_leaving(json.dumps(plain(REFUSED))))
    wrong = SOLUTION.replace(" + ", " - ")
    finished = await _checked(wrong, replace(context, inspector=inspector), reported)
    assert finished.verdict is Verdict.WRONG_ANSWER
    assert finished.message.endswith(REFUSED.refused)


async def test_the_check_does_not_wait_for_amds_compiler(
    context: RunContext, reported: list[Event], tmp_path: Path
) -> None:
    """The report is made only after the runner was asked for, and events keep their order all the same."""
    signals = tmp_path / "signals"
    signals.mkdir(mode=0o755)

    class SignallingDevice(CpuDevice):
        def run_command(self, folder: Path, kind: BuildKind) -> Command:
            (signals / "checking").touch()
            return super().run_command(folder, kind)

    script = f"until [ -e /signals/checking ]; do :; done; {_leaving(json.dumps(plain(REPORT)))}"
    inspector: Any = ScriptedInspector(script, mounts=[Mount(signals, Path("/signals"))])
    finished = await _checked(SOLUTION, replace(context, inspector=inspector, device=SignallingDevice()), reported)
    assert finished.verdict is Verdict.ACCEPTED
    assert _compiled(reported).isa == REPORT
    kinds = [type(event) for event in reported]
    assert kinds[:3] == [Compiling, Compiled, Checking]


@pytest.mark.hip_headers
async def test_a_half_times_a_float_is_accepted_with_amds_word(context: RunContext, reported: list[Event]) -> None:
    source = HALF_TIMES_FLOAT
    job = CoreJob(source, Mode.CHECK, "relu", dtype="float16")
    finished = await run(job, replace(context, inspector=Gfx942Inspector()), reported.append)
    assert finished.verdict is Verdict.ACCEPTED
    assert "AMD's compiler refuses this: line 6" in finished.message
