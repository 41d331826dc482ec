from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import JobError, run
from services.executor.core.sandbox import scratch
from services.executor.core.sandbox.scratch import memory_parent
from services.executor.core.timing.benchmark_result import Timing
from services.executor.core.timing.case_timing import LAUNCHED_BY_SUBMISSION
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import SandboxedProcess, SandboxError
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS
from tests.services.executor.core.mixed_problem import MIXED_SOLUTION, MixedProblem
from vocabulary.roofline import Bound

HONEST = (SUBMISSIONS / "call_counter.hip").read_text().replace("if (++calls > 10) return;", "")


def _names(reported: list[events.Event]) -> list[str]:
    """Names of the events, without progress, which depends on the clock."""
    return [type(event).__name__ for event in reported if not isinstance(event, events.BenchmarkProgress)]


async def test_a_check_tells_its_stages_in_order(context: RunContext, reported: list[events.Event]) -> None:
    finished = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), context, reported.append)
    assert _names(reported) == ["Compiling", "Compiled", "Checking", *["TestResult"] * 5, "Checked", "Finished"]
    assert (finished.verdict, finished.status) == (Verdict.ACCEPTED, "CHECKED")
    assert (finished.passed_tests, finished.total_tests) == (5, 5)
    assert [result.test_id for result in finished.test_results] == [1, 2, 3, 4, 5]
    assert finished.first_call_time is not None


@pytest.mark.parametrize("setting", [pytest.param("bubblewrap", marks=pytest.mark.bubblewrap), "process"])
async def test_every_kind_of_sandbox_lets_the_judge_and_the_runner_meet(context: RunContext, setting: str) -> None:
    sandboxed = replace(context, sandbox=await choose_sandbox(setting))
    finished = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), sandboxed, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.report["sandbox"] == {"name": setting, "gaps": list(sandboxed.sandbox.gaps)}
    wrong = (SUBMISSIONS / "wrong_answer.hip").read_text()
    finished = await run(CoreJob(wrong, Mode.CHECK, "vector-addition"), sandboxed, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished


async def test_the_time_of_what_cannot_be_recorded_is_unproven(context: RunContext) -> None:
    reads_back = (
        HONEST.rstrip().removesuffix("}") + "  float x; hipMemcpy(&x, d_output, 4, hipMemcpyDeviceToHost);\n}\n"
    )
    finished = await run(CoreJob(reads_back, Mode.FULL, "vector-addition"), context, lambda _: None)
    benchmarked = finished.benchmarked
    assert (finished.verdict, finished.report.get("replayer_sha256")) == (Verdict.ACCEPTED, None)
    assert benchmarked is not None
    assert benchmarked.timing is Timing.UNPROVEN
    assert LAUNCHED_BY_SUBMISSION in benchmarked.unproven_because
    line = reads_back.count("\n")
    assert f"line {line - 1}: hipMemcpy reads a result back" in benchmarked.unproven_because
    assert "The time is UNPROVEN: " in finished.message


async def test_a_full_run_measures_every_public_case(context: RunContext, reported: list[events.Event]) -> None:
    finished = await run(CoreJob(HONEST, Mode.FULL, "vector-addition"), context, reported.append)
    assert _names(reported)[-7:] == ["Benchmarking", *["BenchmarkResult"] * 4, "Benchmarked", "Finished"]
    assert (finished.verdict, finished.status) == (Verdict.ACCEPTED, "ACCEPTED")
    benchmarked = finished.benchmarked
    assert benchmarked is not None
    # Our runner launched its kernels, as its host code would have.
    assert len(str(finished.report["replayer_sha256"])) == 64
    assert benchmarked.device == "cpu"
    assert LAUNCHED_BY_SUBMISSION not in benchmarked.unproven_because
    for result in benchmarked.results:
        assert result.samples == len(result.sample_ns) == sum(result.session_samples) >= 5
        assert len(result.session_samples) == len(result.session_median_ns)
        assert (result.clock_mhz, result.instruments) == (None, ())
        assert result.min_ns <= result.ci_low_ns <= result.runtime_ns <= result.ci_high_ns <= result.max_ns
        assert result.converged == (result.stopped_by == "precision")
        assert result.runtime_ns <= result.wall_runtime_ns
        assert (result.percent_of_roof, result.bound) == (None, Bound.UNKNOWN)
    largest = benchmarked.results[0]
    assert largest.gflops == pytest.approx(2**18 / largest.runtime_ns)
    assert largest.gbytes_per_second == pytest.approx(12 * 2**18 / largest.runtime_ns)
    assert set(finished.stage_seconds) == {"compile", "check", "benchmark"}


async def test_the_report_names_everything_that_a_result_depends_on(context: RunContext) -> None:
    report = (await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), context, lambda _: None)).report
    assert report["problem"] == "vector-addition"
    assert report["toolchain"] == context.device.toolchain().identity
    assert report["sandbox"] == {"name": context.sandbox.name, "gaps": list(context.sandbox.gaps)}
    for digest in ("source_sha256", "executable_sha256", "seed_commitment"):
        assert len(str(report[digest])) == 64
    (code,) = [item for item in cast("Any", report["code_objects"]) if item["section"] == ".text"]
    assert len(code["sha256"]) == 64
    assert not code["is_device"]


async def test_an_executable_that_changed_while_it_was_timed_is_our_fault(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    say_goodbye = RunnerSession._say_goodbye

    async def meddled(self: RunnerSession, process: SandboxedProcess) -> None:
        for file in context.scratch_parent.rglob("run/runner"):
            file.chmod(0o755)
            file.unlink()
            file.write_bytes(b"another")
        await say_goodbye(self, process)

    monkeypatch.setattr(RunnerSession, "_say_goodbye", meddled)
    finished = await run(CoreJob(HONEST, Mode.CHECK, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.INFRA_ERROR, finished
    assert "executable changed" in finished.message


async def test_the_same_source_is_compiled_once_and_a_failed_one_every_time(
    context: RunContext, reported: list[events.Event]
) -> None:
    fresh = f"{HONEST}// {context.scratch_parent}\n"
    for source in (fresh, fresh, fresh + "#error no\n", fresh + "#error no\n"):
        await run(CoreJob(source, Mode.CHECK, "vector-addition"), context, reported.append)
    assert [event.cached for event in reported if isinstance(event, events.Compiling)] == [False, True, False, False]


async def test_a_sample_shows_input_output_and_expectation(context: RunContext, reported: list[events.Event]) -> None:
    passed = await run(CoreJob(HONEST, Mode.SAMPLE, "vector-addition"), context, reported.append)
    assert _names(reported) == ["Compiling", "Compiled", "Finished"]
    assert (passed.status, passed.sample is not None and passed.sample.passed) == ("PASSED", True)
    wrong = (SUBMISSIONS / "wrong_answer.hip").read_text()
    failed = await run(CoreJob(wrong, Mode.SAMPLE, "vector-addition"), context, reported.append)
    assert (failed.status, failed.sample is not None and failed.sample.passed) == ("FAILED", False)
    assert failed.wrong_answer is not None


async def test_arguments_of_every_kind_reach_the_solution(context: RunContext) -> None:
    mixed = MixedProblem()
    mixed_context = replace(context, find_problem=mixed.find)
    finished = await run(CoreJob(MIXED_SOLUTION, Mode.CHECK, "mixed"), mixed_context, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    # Far from any alpha: no narrower format explains it.
    wrong = MIXED_SOLUTION.replace("x[at] * alpha", "x[at] * (alpha + 1.0)")
    finished = await run(CoreJob(wrong, Mode.CHECK, "mixed"), mixed_context, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER


async def test_no_two_calls_of_a_run_share_inputs_and_a_seed_gives_them_again(context: RunContext) -> None:
    drawn: list[list[bytes]] = []
    for seed in ("1", "1", "2", ""):
        mixed = MixedProblem()
        job = CoreJob(MIXED_SOLUTION, Mode.BENCHMARK, "mixed", seed=seed)
        finished = await run(job, replace(context, find_problem=mixed.find), lambda _: None)
        assert finished.verdict is Verdict.ACCEPTED
        assert len(set(mixed.drawn)) == len(mixed.drawn) > 10
        drawn.append(mixed.drawn)
    checks = [calls[:3] for calls in drawn]
    assert checks[0] == checks[1]
    assert len({tuple(calls) for calls in checks}) == 3


async def test_the_seed_that_a_report_reveals_gives_the_inputs_of_the_check_again(context: RunContext) -> None:
    drawn, seed = list[list[bytes]](), ""
    for mode in (Mode.FULL, Mode.CHECK):
        mixed = MixedProblem()
        job = CoreJob(MIXED_SOLUTION, mode, "mixed", seed=seed)
        finished = await run(job, replace(context, find_problem=mixed.find), lambda _: None)
        assert finished.verdict is Verdict.ACCEPTED
        drawn.append(mixed.drawn)
        seed = str(finished.report["seed"])
    full, again = drawn
    assert again == full[: len(again)]
    assert len(again) >= 3


@pytest.mark.parametrize(
    ("problem", "dtype", "said"),
    [
        ("", "float32", "problem: is empty"),
        ("vector-addition", "float17", "dtype: "),
        ("nothing", "float32", "`nothing`"),
    ],
)
async def test_a_job_that_is_not_well_formed_names_the_field(
    context: RunContext, reported: list[events.Event], problem: str, dtype: str, said: str
) -> None:
    with pytest.raises(JobError, match=said):
        await run(CoreJob(HONEST, Mode.CHECK, problem, dtype), context, reported.append)
    assert reported == []


@pytest.mark.usefixtures("own_memory")
async def test_a_problem_that_breaks_is_our_fault(context: RunContext) -> None:
    mixed = MixedProblem()
    mixed.breaks = True
    finished = await run(
        CoreJob(MIXED_SOLUTION, Mode.CHECK, "mixed"),
        replace(context, find_problem=mixed.find),
        lambda _: None,
    )
    assert (finished.verdict, finished.status) == (Verdict.INFRA_ERROR, "ERROR")
    assert "ZeroDivisionError" in finished.details
    assert _left_behind(context) == []


async def test_a_missing_toolchain_or_sandbox_is_our_fault(context: RunContext) -> None:
    class NoToolchain:
        def __getattr__(self, name: str) -> object:
            return getattr(context.device, name)

        def toolchain(self) -> Toolchain:
            raise ToolchainError("install the toolchain with `make setup`")

    class NoDriver(NoToolchain):
        def describe(self) -> DeviceDescription:
            raise ToolchainError("install the driver's library")

    class NoSandbox:
        name = "none"
        gaps = ()

        async def start(self, *_: object) -> object:
            raise SandboxError("no namespaces here")

        prepare = start

    job = CoreJob(f"{HONEST}// never compiled\n", Mode.CHECK, "vector-addition")
    finished = await run(job, replace(context, device=NoToolchain()), lambda _: None)  # pyright: ignore[reportArgumentType]
    assert finished.verdict is Verdict.INFRA_ERROR
    assert "make setup" in finished.message
    finished = await run(job, replace(context, device=NoDriver()), lambda _: None)  # pyright: ignore[reportArgumentType]
    assert finished.message == "The device cannot be used on this machine: install the driver's library"
    assert (finished.verdict, finished.details) == (Verdict.INFRA_ERROR, "")
    finished = await run(job, replace(context, sandbox=NoSandbox()), lambda _: None)  # pyright: ignore[reportArgumentType]
    assert finished.verdict is Verdict.INFRA_ERROR
    assert "no namespaces here" in finished.details


@pytest.mark.usefixtures("own_memory")
@pytest.mark.parametrize(
    ("name", "mode", "stage"),
    [
        ("template_bomb", Mode.CHECK, events.Compiling),
        ("host_hang", Mode.CHECK, events.Checking),
        ("call_counter", Mode.FULL, events.Benchmarking),
    ],
)
async def test_a_cancelled_run_leaves_no_process_and_no_file(
    context: RunContext, name: str, mode: Mode, stage: type[events.Event]
) -> None:
    reached = asyncio.Event()
    source = (SUBMISSIONS / f"{name}.hip").read_text().replace("> 10", "> 1000000")
    reported: list[events.Event] = []

    def tell(event: events.Event) -> None:
        reported.append(event)
        if isinstance(event, stage):
            reached.set()

    before = set(psutil.Process().children(recursive=True))
    task = asyncio.create_task(run(CoreJob(source, mode, "vector-addition"), context, tell))
    waiting = asyncio.create_task(reached.wait())
    async with asyncio.timeout(60):
        await asyncio.wait((waiting, task), return_when=asyncio.FIRST_COMPLETED)
        assert reached.is_set(), reported
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not any(isinstance(event, events.Finished) for event in reported)
    assert _left_behind(context) == []
    assert [child for child in psutil.Process().children(recursive=True) if child not in before] == []


@pytest.fixture
def own_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shared memory for this test alone: in the machine's own, other killed processes leave folders until a sweep."""
    with tempfile.TemporaryDirectory(prefix="wavepool-test-", dir=memory_parent(Path(tempfile.gettempdir()))) as name:
        # Sandboxes of other users look for their files below it.
        Path(name).chmod(0o1777)
        monkeypatch.setattr(scratch, "_SHARED_MEMORY", Path(name))
        yield


def _left_behind(context: RunContext) -> list[Path]:
    """Scratch folders of this test."""
    return [*context.scratch_parent.iterdir(), *memory_parent(context.scratch_parent).iterdir()]


class NarrowDevice(CpuDevice):
    """A device that reports wavefronts of 32 lanes."""

    def describe(self) -> DeviceDescription:
        return replace(super().describe(), wavefront_size=32)


@pytest.mark.parametrize(
    ("line", "is_reported"),
    [
        *(("c[i] += __shfl_xor(1.0f, 32);", True), ("if (__ballot(i > 3) >> 32) c[i] = 0.0f;", True)),
        *(("c[i] = 0.0f;  // no __shfl_xor", False), ("c[i] += __expf(0.5f);", False)),
    ],
)
async def test_a_wrong_answer_on_narrow_wavefronts_says_so_where_the_source_works_across_lanes(
    context: RunContext, line: str, is_reported: bool
) -> None:
    source = HONEST.replace("c[i] = a[i] + b[i];", f"c[i] = a[i] + b[i];\n  if (i < n) {{ {line}\n }}")
    job = CoreJob(source, Mode.CHECK, "vector-addition")
    wide = await run(job, context, lambda _: None)
    narrow = await run(job, replace(context, device=NarrowDevice()), lambda _: None)
    assert (wide.verdict, narrow.verdict) == (Verdict.WRONG_ANSWER, Verdict.WRONG_ANSWER), (wide, narrow)
    assert "lanes" not in wide.message
    assert ("Wavefronts of this device have 32 lanes, an MI300X's 64" in narrow.message) == is_reported
