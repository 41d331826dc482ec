"""The rules of a GPU end to end, on the simulated one: its time is its own, so that a busy host does not affect it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from problems.kit import parts
from problems.kit.distributions import Distribution
from services.executor.core.audit import chain
from services.executor.core.audit.chain import ChainAudit
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.certify.known_times import smallest_case_of, with_case
from services.executor.core.check import case_judge
from services.executor.core.check.case_judge import CaseJudge, LargeCaseRule
from services.executor.core.model.events import Finished
from services.executor.core.model.failure import InfrastructureFailure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run import benchmarking
from services.executor.core.run.case_result import CaseTimes
from services.executor.core.run.context import RunContext
from services.executor.core.run.device_properties import host_memory_doubt, properties_from, with_properties
from services.executor.core.run.installation import catalogue, find_problem
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import BenchmarkResult, Timing
from services.executor.core.timing.stopping import GPU_PROFILE
from services.executor.devices.instruments import Reading
from services.executor.devices.nvidia.nvidia_device import NvidiaDevice
from services.executor.devices.plugins import device_named
from services.executor.devices.sim.gpu import CACHE_BYTES, HOT_SHARE
from services.executor.devices.sim.sim_device import SimulatedGpu
from submissions.modes import Mode, TimingMode
from tests.services.executor.core.conftest import ALL_LARGE, SUBMISSIONS
from tests.services.executor.core.launching.test_launch_plans import ADD, plan_of
from tests.tiers import sampled

HONEST = (SUBMISSIONS / "call_counter.hip").read_text().replace("if (++calls > 10) return;", "")
DRAWN = [
    *("conv-2d", "mxfp8-gemm", "hinge-loss", "matrix-power", "nvfp4-quantize", "cosine-similarity", "max-pool-2d"),
    *("mxfp8-quantize", "nvfp4-dequantize", "nvfp4-gemm", "vector-multiply-ff"),
]
ROUNDED = ["mxfp4-gemm", "nvfp4-quantize", "mxfp8-gemm", "mxfp4-quantize", "mxfp8-quantize"]
HOT, COLD = TimingMode.HOT, TimingMode.COLD
CALLS = 20
FIXED = replace(GPU_PROFILE, max_samples=CALLS, max_wall_seconds=600, warm_up_cap_seconds=600, warm_up_most_calls=30)


@pytest.fixture
def simulated(context: RunContext) -> RunContext:
    """Uses one small case: the host's own part of each call takes long."""

    return replace(context, device=SimulatedGpu(), profile=FIXED, find_problem=smallest_case_of)


async def _finished(simulated: RunContext, script: str, timing_mode: TimingMode | None = None) -> Finished:
    source = f"// sim: {script}\n{HONEST}"
    return await run(
        CoreJob(source, Mode.BENCHMARK, "vector-addition", seed="a", timing_mode=timing_mode),
        simulated,
        lambda _: None,
    )


class Instrumented(SimulatedGpu):
    """A simulated GPU whose clock rises by 0.1 MHz with each reading, but for one sample of the first session."""

    def __init__(self) -> None:
        super().__init__()
        self._readings = 0

    def read_instruments(self) -> Reading:
        self._readings += 1
        return Reading(1000.0 if self._readings == 30 else 2000 + self._readings / 10, temperature_celsius=70.0)


def _result(finished: Finished) -> BenchmarkResult:
    assert finished.benchmarked is not None, finished
    return finished.benchmarked.results[0]


async def test_the_instruments_of_a_device_are_kept_with_the_samples_that_they_were_read_at(
    simulated: RunContext,
) -> None:
    result = _result(await _finished(replace(simulated, device=Instrumented()), "latency_us=100"))
    found = result.instruments
    assert sum(result.session_samples) == result.samples == len(result.session_samples) * CALLS
    [replaced] = result.replaced
    assert replaced.session == 0
    # The reading of the sample that was taken again is the last of its session.
    samples = [at for at in range(result.samples) if at != replaced.index]
    samples.insert(CALLS - 1, replaced.index)
    assert [one.sample for one in found] == samples
    clocks = [one.clock_mhz for one in found if one.clock_mhz is not None]
    assert clocks == sorted(clocks)
    assert result.clock_mhz is not None
    assert (result.clock_mhz.low, result.clock_mhz.high) == (clocks[0], clocks[-1])
    assert {(one.temperature_celsius, one.power_watts) for one in found} == {(70.0, None)}
    times_ms = [one.time_ms for one in found]
    assert 0 < times_ms[0] < times_ms[-1] < 600_000


@pytest.mark.parametrize("latency_us", [1, 100, 10_000])
async def test_an_honest_kernels_time_is_the_true_one_by_every_instrument(
    simulated: RunContext, latency_us: float
) -> None:
    finished = await _finished(simulated, f"latency_us={latency_us} noise=gpu")
    assert finished.verdict is Verdict.ACCEPTED, finished
    result, true_ns = _result(finished), 1e3 * latency_us
    assert (result.timing, result.unproven_because, finished.status) == (Timing.VALID, "", "BENCHMARKED")
    assert finished.report["replayer_sha256"], "our runner launched it"
    assert finished.report["launched_by"] == "stream"
    assert result.runtime_ns == pytest.approx(true_ns, rel=0.01, abs=10)
    assert result.stream_span_ns == pytest.approx(true_ns, rel=0.01, abs=10)
    assert result.device_span_ns == pytest.approx(true_ns, rel=0.01, abs=10)
    assert (result.samples, len(result.session_median_ns)) == (3 * CALLS, 3)
    # A chain that an order was late in is made again.
    assert result.audited_calls in {32, 64}
    assert result.flush_bytes == CACHE_BYTES
    assert result.hot_ns == pytest.approx(HOT_SHARE * true_ns, rel=0.02, abs=10)
    assert finished.benchmarked is not None
    assert (finished.benchmarked.simulated, finished.benchmarked.flush_verified) == (True, True)
    assert "simulated" in finished.message
    assert finished.report["simulated"] is True
    assert "none are known of `simulated GPU" in str(finished.report["roofs"])


async def test_hot_calls_are_faster_than_cold_ones(simulated: RunContext) -> None:
    result = _result(await _finished(simulated, "latency_us=100 noise=quiet", TimingMode.HOT))
    assert result.runtime_ns == pytest.approx(HOT_SHARE * 100e3, rel=1e-3)


@pytest.mark.parametrize("noise", sampled(["gpu", "skewed", "correlated", "bimodal"], ["gpu"]))
async def test_an_honest_hot_time_is_proven_whose_first_calls_are_slow(simulated: RunContext, noise: str) -> None:
    """The mean of the first chain may be 3 % above the median; another chain is then made."""
    result = _result(await _finished(simulated, f"latency_us=2000 noise={noise}", HOT))
    assert (result.timing, result.unproven_because) == (Timing.VALID, "")


@pytest.mark.parametrize(
    ("script", "found_by"),
    [
        ("latency_us=500 noise=quiet claim=0.5", "the judge waited"),
        ("latency_us=500 noise=quiet claim=1.5", "the judge waited no more than"),
        ("latency_us=2000 noise=quiet aside=0.25", "calls are said to take 1500."),
    ],
)
async def test_forged_claims_are_invalid_however_busy_the_host(
    simulated: RunContext, script: str, found_by: str
) -> None:
    finished = await _finished(simulated, script)
    assert finished.verdict is Verdict.TIMING_INVALID, finished
    assert found_by in finished.details
    assert _result(finished).timing is Timing.INVALID


@pytest.mark.parametrize("noise", ["quiet", "gpu"])
async def test_a_claim_that_is_a_twentieth_short_is_not_proven(simulated: RunContext, noise: str) -> None:
    finished = await _finished(simulated, f"latency_us=500 noise={noise} claim=0.95")
    assert finished.verdict is Verdict.ACCEPTED, finished
    result = _result(finished)
    assert result.timing is Timing.UNPROVEN
    assert "the instruments disagree: in a chain events say 4" in result.unproven_because


# The true time, a claim that may pass and one that may not, in us. Hot calls take 0.9 of cold ones.
FORGED = [
    (500, COLD, 478, 472),
    (50, HOT, 47, 46),
    (5, COLD, 2.6, 2.1),
    (50, COLD, 43.5, 40.5),
    (5, HOT, 3.0, 2.7),
    (500, HOT, 484.5, 481.5),
]


@pytest.mark.parametrize("forged", sampled(FORGED, FORGED[:1]), ids=str)
async def test_who_forges_sessions_and_not_chains_gains_what_attacks_md_says_and_no_more(
    simulated: RunContext, forged: tuple[float, TimingMode, float, float]
) -> None:
    true_us, mode, passes_us, fails_us = forged
    latency_us = true_us / (HOT_SHARE if mode is HOT else 1)
    for claimed_us, is_believed in ((passes_us, True), (fails_us, False)):
        script = f"latency_us={latency_us!r} noise=quiet claim={claimed_us / true_us!r} claim_in_chains=1"
        result = _result(await _finished(simulated, script, mode))
        assert result.runtime_ns == pytest.approx(1e3 * claimed_us, rel=1e-3, abs=10)
        assert (result.timing is Timing.VALID) is is_believed, (claimed_us, result.timing, result.unproven_because)


@pytest.mark.parametrize("slow_processes", [1, 2])
async def test_a_case_is_accused_by_the_chains_of_two_processes(
    simulated: RunContext, monkeypatch: pytest.MonkeyPatch, slow_processes: int
) -> None:
    audits: list[ChainAudit] = []

    async def audit_case(*arguments: Any) -> ChainAudit:
        audit = await chain.audit_case(*arguments)
        factor = 1.3 if len(audits) < slow_processes else 1.0
        slowed = [replace(one, wall_ns=round(factor * one.wall_ns)) for one in audit.chains]
        audits.append(replace(audit, chains=tuple(slowed)))
        return audits[-1]

    monkeypatch.setattr(benchmarking, "audit_case", audit_case)
    finished = await _finished(simulated, "latency_us=500 noise=quiet")
    assert len(audits) == 2
    assert _result(finished).timing is (Timing.VALID if slow_processes == 1 else Timing.INVALID), finished


async def test_processes_of_different_speed_have_no_time(simulated: RunContext) -> None:
    result = _result(await _finished(simulated, "latency_us=100 apart=8 noise=quiet"))
    assert (result.timing, len(result.session_median_ns)) == (Timing.UNSTABLE, 5)


async def test_a_large_case_has_its_inputs_drawn_by_the_device_and_a_share_of_its_answers_checked(
    simulated: RunContext,
) -> None:
    small, simulated = simulated, replace(simulated, large_cases=ALL_LARGE)
    finished = await _finished(simulated, "latency_us=100 noise=gpu")
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")
    (checked, made), *_ = dict(finished.report["checked_calls"]).values()
    assert checked == 3 * (1 + ALL_LARGE.compared_answers)
    assert made > 3 * CALLS
    assert list(dict(finished.report["replayed_calls"]).values()) == [3 * CALLS]
    (checked, made), *_ = dict((await _finished(small, "latency_us=100")).report["checked_calls"]).values()
    assert checked == made


async def test_a_kernel_that_is_wrong_in_half_of_the_calls_that_are_timed_is_found_out(
    simulated: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = HONEST.replace("__global__", "__device__ int calls;\n__global__", 1).replace(
        "{", "{ if (blockIdx.x == 0 && threadIdx.x == 0 && ++calls > 20 && calls % 2) return;", 1
    )
    simulated = replace(simulated, large_cases=ALL_LARGE)
    monkeypatch.setattr(benchmarking, "_audited", _not_audited)
    finished = await run(CoreJob(source, Mode.BENCHMARK, "vector-addition", seed="a"), simulated, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished


@pytest.fixture
def compared_in_parts(simulated: RunContext, monkeypatch: pytest.MonkeyPatch) -> RunContext:
    """Compares the `cpu` cases in parts, as at GPU sizes."""
    simulated = replace(simulated, large_cases=ALL_LARGE)
    monkeypatch.setattr(parts, "ELEMENTS", 256)
    problem = find_problem("vector-addition")
    largest = with_case(problem, max(problem.sizes.cpu, key=problem.bytes))
    return replace(simulated, find_problem=lambda _: largest)


async def test_an_honest_kernel_is_right_in_every_part(compared_in_parts: RunContext) -> None:
    finished = await _finished(compared_in_parts, "latency_us=100 noise=gpu")
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")


@pytest.mark.parametrize("slug", sampled(DRAWN, DRAWN[:5]))
async def test_a_reference_is_right_in_every_part_of_what_a_device_draws(
    simulated: RunContext, monkeypatch: pytest.MonkeyPatch, slug: str
) -> None:
    for name, least in (("ELEMENTS", 256), ("FEWEST_PIECES", 16), ("FEWEST_LINES", 3)):
        monkeypatch.setattr(parts, name, least)
    simulated = replace(simulated, large_cases=ALL_LARGE)
    entry = catalogue().get(slug)
    one = with_case(entry.problem, entry.problem.sizes.cpu[0])
    source = f"// sim: latency_us=100 noise=gpu\n{entry.solution}"
    job = CoreJob(source, Mode.BENCHMARK, slug, seed="a")
    finished = await run(job, replace(simulated, find_problem=lambda _: one), lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")
    assert all(checked < made for checked, made in dict(finished.report["checked_calls"]).values())


async def test_what_lies_in_an_output_does_not_tell_the_inputs_that_a_device_drew(simulated: RunContext) -> None:
    simulated = replace(simulated, large_cases=ALL_LARGE)
    problem = find_problem("relu")
    uniform = next(case for case in problem.sizes.cpu if case.values["distribution"] is Distribution.UNIFORM)
    source = "// sim: latency_us=100 noise=gpu\n" + (SUBMISSIONS / "inverts_poison.hip").read_text()
    on_one_case = replace(simulated, find_problem=lambda _: with_case(problem, uniform))
    finished = await run(CoreJob(source, Mode.BENCHMARK, "relu", seed="a"), on_one_case, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")
    assert all(checked < made for checked, made in dict(finished.report["checked_calls"]).values()), "they were redrawn"


@pytest.mark.parametrize("slug", sampled(ROUNDED, ROUNDED[:2]))
async def test_inputs_of_a_chain_are_such_that_a_reference_is_right(simulated: RunContext, slug: str) -> None:
    entry = catalogue().get(slug)
    # With padded tiles, and with blocks whose rounding depends on their contents.
    one = with_case(entry.problem, entry.problem.sizes.cpu[1])
    job = CoreJob(f"// sim: latency_us=100 noise=gpu\n{entry.solution}", Mode.BENCHMARK, slug)
    finished = await run(job, replace(simulated, find_problem=lambda _: one), lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")


@pytest.mark.parametrize("is_audited", [True, False])
async def test_a_kernel_that_leaves_out_a_twentieth_of_each_call_that_is_timed_is_found_out(
    compared_in_parts: RunContext, monkeypatch: pytest.MonkeyPatch, *, is_audited: bool
) -> None:
    source = HONEST.replace("__global__", "__device__ int calls;\n__global__", 1).replace(
        "{", "{ if (blockIdx.x == 0 && threadIdx.x == 0) ++calls; if (calls > 20 && blockIdx.x % 20 == 3) return;", 1
    )
    if not is_audited:
        monkeypatch.setattr(benchmarking, "_audited", _not_audited)
    job = CoreJob(source, Mode.BENCHMARK, "vector-addition", seed="a")
    finished = await run(job, compared_in_parts, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert "elements of `d_output`" in finished.message


@pytest.fixture
def drawn_at_once(simulated: RunContext, monkeypatch: pytest.MonkeyPatch) -> RunContext:
    """The host draws the inputs of six calls at once, and compares as many answers."""
    monkeypatch.setattr(case_judge, "at_once", lambda _: 6)
    return replace(simulated, large_cases=LargeCaseRule(side_by_side_bytes=0))


async def test_while_a_call_is_made_nothing_is_drawn_or_compared(
    drawn_at_once: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, most_busy, seen = list[str](), list[int](), list[int]()

    def spied(work: Callable[..., Any], *arguments: object) -> object:
        busy.append(work.__name__)
        most_busy.append(len(busy))
        try:
            return work(*arguments)
        finally:
            busy.remove(work.__name__)

    async def call(*arguments: Any, **named: Any) -> object:
        seen.append(len(busy))
        try:
            return await original_call(*arguments, **named)
        finally:
            seen.append(len(busy))

    for name in ("draw", "fault"):
        original = getattr(CaseJudge, name)
        monkeypatch.setattr(CaseJudge, name, lambda *given, of=original: spied(of, *given))
    original_call = RunnerSession.call
    monkeypatch.setattr(RunnerSession, "call", call)
    finished = await _finished(drawn_at_once, "latency_us=100 noise=gpu")
    assert _result(finished).timing is Timing.VALID, finished
    assert set(seen) == {0}
    assert max(most_busy) > 1
    assert all(checked == made for checked, made in dict(finished.report["checked_calls"]).values())


@pytest.mark.parametrize("wrong_at", [7, 21, 50])
async def test_an_answer_that_is_compared_with_others_is_found_wrong(
    drawn_at_once: RunContext, monkeypatch: pytest.MonkeyPatch, wrong_at: int
) -> None:
    """One of a session's 50 calls is wrong; the last of them end the session, and each session reloads the kernels."""
    source = HONEST.replace("__global__", "__device__ int calls;\n__global__", 1).replace(
        "{", f"{{ if (blockIdx.x == 0 && threadIdx.x == 0) ++calls; if (calls == {wrong_at}) return;", 1
    )
    monkeypatch.setattr(benchmarking, "_audited", _not_audited)
    finished = await run(CoreJob(source, Mode.BENCHMARK, "vector-addition", seed="a"), drawn_at_once, lambda _: None)
    assert finished.verdict is Verdict.WRONG_ANSWER, finished


async def _not_audited(bench: object, trusted: object, measured: list[CaseTimes], *_: object) -> list[CaseTimes]:
    """Skips the chains, which would find it too."""
    return measured


def test_it_is_named_sim_and_works_on_the_host() -> None:
    device = device_named("sim").describe()
    assert (device.name, device.is_gpu, device.is_simulated, device.has_own_memory) == ("sim", True, True, False)


@pytest.mark.parametrize(
    ("script", "verdict", "reason"),
    [
        ("crash_at=3", Verdict.RUNTIME_ERROR, "signal:SIGABRT"),
        ("exit_at=3", Verdict.RUNTIME_ERROR, "early_exit"),
        ("hang_at=3", Verdict.TIME_LIMIT_EXCEEDED, "wall"),
        ("claim=0", Verdict.TIMING_INVALID, ""),
    ],
)
async def test_scripted_faults_have_the_verdict_of_real_ones(
    simulated: RunContext, script: str, verdict: Verdict, reason: str
) -> None:
    finished = await _finished(simulated, script)
    assert (finished.verdict, finished.reason) == (verdict, reason), finished


async def test_a_script_that_is_not_understood_is_the_sources_fault(simulated: RunContext) -> None:
    job = CoreJob(f"// sim: speed=3\n{HONEST}", Mode.CHECK, "vector-addition")
    finished = await run(job, simulated, lambda _: None)
    assert finished.verdict is Verdict.COMPILE_ERROR
    assert "'speed=3' is not known" in finished.details


async def test_kernels_that_our_own_runner_launches_have_a_valid_time(simulated: RunContext) -> None:
    source = f"// sim: latency_us=100 noise=gpu\n{ADD.replace('BEFORE', '').replace('INSIDE', '')}"
    job = CoreJob(source, Mode.BENCHMARK, "vector-addition", seed="a", launch_plan=plan_of())
    finished = await run(job, simulated, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")


@pytest.mark.parametrize("scratch", [[], [{"name": "room", "bytes": "4 * n"}]])
async def test_large_calls_of_a_plan_are_drawn_by_the_device_unless_it_has_scratch(
    simulated: RunContext, scratch: list[dict[str, str]]
) -> None:
    simulated = replace(simulated, large_cases=ALL_LARGE)
    source = f"// sim: latency_us=100 noise=gpu\n{ADD.replace('BEFORE', '').replace('INSIDE', '')}"
    plan = plan_of(**({"scratch": scratch} if scratch else {}))
    job = CoreJob(source, Mode.BENCHMARK, "vector-addition", seed="a", launch_plan=plan)
    finished = await run(job, simulated, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert (_result(finished).timing, _result(finished).unproven_because) == (Timing.VALID, "")
    [(checked, made)] = dict(finished.report["checked_calls"]).values()
    assert (checked < made) is (not scratch)
    assert list(dict(finished.report["replayed_calls"]).values()) == [0 if scratch else 3 * CALLS]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"pageableMemoryAccess": b"\1\0\0\0"}, "device code reads and writes the host's memory on this machine"),
        ({"name": b"a GPU that does not say it"}, "the GPU did not say whether device code reaches the host's memory"),
    ],
)
async def test_where_device_code_reaches_the_hosts_memory_no_time_is_proven(
    simulated: RunContext, answer: dict[str, bytes], said: str
) -> None:
    finished = await _finished(replace(simulated, properties=answer), "latency_us=100 noise=gpu")
    assert finished.verdict is Verdict.ACCEPTED, finished
    result = _result(finished)
    assert result.timing is Timing.UNPROVEN
    assert result.unproven_because.startswith(said)
    assert said in finished.message


async def test_a_gpu_says_itself_whether_device_code_reaches_the_hosts_memory(simulated: RunContext) -> None:
    properties = (await with_properties(simulated)).properties
    assert properties["pageableMemoryAccess"] == bytes(4)
    assert host_memory_doubt(properties) == ""
    assert properties["hipDeviceAttributeWarpSize"] == properties["warpSize"] == b"\x40\0\0\0"
    assert properties["name"].startswith(b"Wavepool cpu device\0")


async def test_a_gpu_that_is_not_there_is_not_asked(simulated: RunContext) -> None:
    with pytest.raises(InfrastructureFailure, match="no NVIDIA GPU 99 can be used"):
        await with_properties(replace(simulated, device=NvidiaDevice(indices=[99])))


def test_answers_that_are_none_are_the_machines_fault() -> None:
    with pytest.raises(InfrastructureFailure, match="cannot be read"):
        properties_from("warpSize=40000000\nSegmentation fault\n")
