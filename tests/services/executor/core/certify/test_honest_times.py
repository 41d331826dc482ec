"""A VALID time that is shorter than the honest time of the same work is found, whoever submits it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.certify import honest_times, kernel_runs
from services.executor.core.certify.honest_times import Contest, NoHonestTimeError
from services.executor.core.certify.kernel_runs import FEW_CALLS
from services.executor.core.certify.known_times import smallest_case_of
from services.executor.core.certify.results import Outcome
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import Timing
from services.executor.devices.sim.sim_device import SimulatedGpu
from submissions.modes import Mode
from tests.attacks import manifest

HONEST = catalogue().get("vector-addition").solution


@pytest.fixture
def on_cpu(context: RunContext) -> RunContext:
    return replace(context, find_problem=smallest_case_of)


@pytest.fixture
def simulated(on_cpu: RunContext) -> RunContext:
    return replace(on_cpu, device=SimulatedGpu(), profile=FEW_CALLS)


def _job(source: str, script: str = "") -> CoreJob:
    return CoreJob(f"// sim: {script}\n{source}", Mode.BENCHMARK, "vector-addition")


async def _gain(attack: CoreJob, honest: CoreJob, context: RunContext) -> str:
    finished = await run(attack, context, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    return await Contest(attack, honest, context).unfair_gain(finished)


@pytest.mark.parametrize(("latency_us", "is_found"), [(94, True), (96, False)])
async def test_on_a_gpu_a_valid_time_is_at_most_a_twentieth_under_the_honest_one(
    simulated: RunContext, latency_us: int, *, is_found: bool
) -> None:
    attack = _job(HONEST, f"latency_us={latency_us} noise=quiet")
    gain = await _gain(attack, _job(HONEST, "latency_us=100 noise=quiet"), simulated)
    assert ("6.0 % under the honest 100.0" in gain) is is_found, gain
    assert bool(gain) is is_found


async def test_a_time_that_is_not_valid_gains_nothing_however_short(simulated: RunContext) -> None:
    attack = _job(HONEST, "latency_us=500 noise=quiet claim=0.95")
    finished = await run(attack, simulated, lambda _: None)
    assert finished.benchmarked is not None
    assert finished.benchmarked.timing is Timing.UNPROVEN
    assert await Contest(attack, attack, simulated).unfair_gain(finished) == ""


async def test_what_host_code_launched_must_not_be_valid(simulated: RunContext) -> None:
    attack = _job(HONEST, "latency_us=100 noise=quiet")
    finished = await run(attack, simulated, lambda _: None)
    forged = replace(finished, report={**finished.report, "replayer_sha256": ""})
    assert "host code" in await Contest(attack, attack, simulated).unfair_gain(forged)


@pytest.mark.parametrize(("comparisons", "is_found"), [(1, True), (2, False)])
async def test_on_cpu_a_gain_counts_if_it_is_there_again_and_again(
    on_cpu: RunContext, monkeypatch: pytest.MonkeyPatch, comparisons: int, *, is_found: bool
) -> None:
    monkeypatch.setattr(honest_times, "_COMPARISONS_ON_CPU", comparisons)
    job = _job(HONEST)
    finished = await run(job, on_cpu, lambda _: None)
    assert finished.benchmarked is not None, finished
    results = tuple(replace(one, min_ns=0.1 * one.min_ns) for one in finished.benchmarked.results)
    benchmarked = replace(finished.benchmarked, results=results, timing=Timing.VALID)
    gain = await Contest(job, job, on_cpu).unfair_gain(replace(finished, benchmarked=benchmarked))
    assert ("in 1 comparisons" in gain) is is_found, gain


async def test_an_honest_source_that_has_no_time_is_no_proof_of_anything(simulated: RunContext) -> None:
    with pytest.raises(NoHonestTimeError, match="COMPILE_ERROR"):
        await _gain(_job(HONEST, "noise=quiet"), _job("no C++"), simulated)


async def test_certify_fails_an_attack_that_gained_time(
    simulated: RunContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "honest.hip").write_text(f"// sim: latency_us=100 noise=quiet\n{HONEST}")
    faster = tmp_path / "faster.hip"
    faster.write_text(f"// sim: latency_us=50 noise=quiet\n{HONEST}")
    outcomes = {"sim": (manifest.Outcome(Verdict.ACCEPTED, Timing.VALID),)}
    attempt = manifest.Attempt(0, faster, outcomes, "", mode=Mode.BENCHMARK, honest="honest.hip")
    monkeypatch.setattr(manifest, "attempt_named", lambda _: attempt)
    result = await kernel_runs.attack("attacks/faster", "faster", simulated)
    assert (result.outcome, "50.0 % under the honest" in result.why) == (Outcome.FAILED, True), result
