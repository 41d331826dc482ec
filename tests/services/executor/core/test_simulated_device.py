"""The whole core on the simulated device: what statistics and faults come to, from the compiler to the report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from services.executor.core import benchmarking
from services.executor.core.benchmark_result import Timing
from services.executor.core.job import CoreJob, Mode
from services.executor.core.run import run
from services.executor.core.stopping import SIM_PROFILE
from services.executor.core.verdict import Verdict
from services.executor.devices.plugins import device_named
from tests.services.executor.core.conftest import SUBMISSIONS

if TYPE_CHECKING:
    from services.executor.core.equipment import Equipment
    from services.executor.core.events import Finished

HONEST = (SUBMISSIONS / "call_counter.hip").read_text().replace("if (++calls > 10) return;", "")
# So many calls, however busy the machine is.
FIXED = replace(
    SIM_PROFILE, min_samples=5, check_every=1, max_samples=5, max_wall_seconds=600, warm_up_calls=1, warm_up_slope=None
)


@pytest.fixture
def simulated(equipment: Equipment) -> Equipment:
    return replace(equipment, device=device_named("sim"), profile=FIXED)


async def _finished(simulated: Equipment, script: str, mode: Mode = Mode.BENCHMARK) -> Finished:
    job = CoreJob(f"// sim: {script}\n{HONEST}", mode, "vector-addition", seed="a")
    return await run(job, simulated, lambda _: None)


async def test_times_are_the_scripts_and_called_simulated_everywhere(simulated: Equipment) -> None:
    finished = await _finished(simulated, "latency_us=2000 noise=quiet")
    assert finished.verdict is Verdict.ACCEPTED, finished
    benchmarked = finished.benchmarked
    assert benchmarked is not None
    assert (benchmarked.device, benchmarked.simulated, benchmarked.timing) == ("sim", True, Timing.VALID)
    assert "simulated" in finished.message
    assert finished.report["simulated"] is True
    for result in benchmarked.results:
        assert result.runtime_ns == pytest.approx(2e6, rel=1e-3)
        assert len(result.session_median_ns) == 3
        assert len(result.sample_ns) == 15


async def test_processes_that_stay_apart_are_right_and_unstable_after_five_sessions(simulated: Equipment) -> None:
    finished = await _finished(simulated, "latency_us=2000 apart=8 noise=quiet")
    assert (finished.verdict, finished.status) == (Verdict.ACCEPTED, "BENCHMARKED"), finished
    assert finished.benchmarked is not None
    assert finished.benchmarked.timing is Timing.UNSTABLE
    unstable = [result for result in finished.benchmarked.results if result.timing is Timing.UNSTABLE]
    assert all(len(result.session_median_ns) == 5 for result in unstable)
    assert "between sessions with medians of" in finished.message


async def test_forged_claims_are_invalid(simulated: Equipment, monkeypatch: pytest.MonkeyPatch) -> None:
    # However busy this machine may be.
    monkeypatch.setattr(
        benchmarking, "CPU_RULE", replace(benchmarking.CPU_RULE, busy_factor=math.inf, waits_excuse=False)
    )
    finished = await _finished(simulated, "latency_us=50000 noise=quiet claim=0.1")
    assert finished.verdict is Verdict.TIMING_INVALID, finished
    assert finished.benchmarked is not None
    assert finished.benchmarked.timing is Timing.INVALID


async def test_work_aside_shows_between_the_streams_span_and_the_devices(simulated: Equipment) -> None:
    honest = await _finished(simulated, "latency_us=2000 noise=quiet")
    assert honest.benchmarked is not None
    for result in honest.benchmarked.results:
        assert result.stream_span_ns == pytest.approx(result.runtime_ns, rel=1e-3)
        assert result.device_span_ns == pytest.approx(result.runtime_ns, rel=1e-3)
    aside = await _finished(simulated, "latency_us=2000 noise=quiet aside=0.25")
    assert aside.verdict is Verdict.TIMING_INVALID, aside
    assert "the device went on for 500" in aside.details
    assert aside.benchmarked is not None
    assert aside.benchmarked.results[0].stream_span_ns == pytest.approx(1.5e6, rel=1e-3)


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
    simulated: Equipment, script: str, verdict: Verdict, reason: str
) -> None:
    finished = await _finished(simulated, script)
    assert (finished.verdict, finished.reason) == (verdict, reason), finished


async def test_a_script_that_is_not_understood_is_the_sources_fault(simulated: Equipment) -> None:
    finished = await _finished(simulated, "speed=3", Mode.CHECK)
    assert finished.verdict is Verdict.COMPILE_ERROR
    assert "'speed=3' is not known" in finished.details
