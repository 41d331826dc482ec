from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.commands.bench_table import table_of
from services.executor.core.model.events import Benchmarking, Event
from services.executor.core.model.flushing import CPU_FLUSH, Flush
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run import benchmarking
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from services.executor.core.timing.case_timing import CACHES_MAY_BE_WARM
from services.executor.core.timing.stopping import CPU_PROFILE, GPU_PROFILE, default_mode, profile_in
from submissions.modes import Mode, TimingMode
from tests.services.executor.core.conftest import SUBMISSIONS


def test_a_device_has_its_own_mode_and_takes_the_others() -> None:
    assert default_mode(GPU_PROFILE) is TimingMode.COLD
    assert default_mode(CPU_PROFILE) is TimingMode.HOT
    for profile in (GPU_PROFILE, CPU_PROFILE):
        assert profile_in(default_mode(profile), profile) == profile
        assert not profile_in(TimingMode.HOT, profile).cold
        assert profile_in(TimingMode.COLD, profile).cold


def test_first_calls_are_one_session_of_a_few() -> None:
    profile = profile_in(TimingMode.FIRST_CALL, GPU_PROFILE)
    assert (profile.sessions.sessions, profile.sessions.more_sessions, profile.sessions.tolerance) == (1, 0, None)
    assert profile.max_samples < GPU_PROFILE.max_samples
    assert profile.cold


async def test_a_case_names_its_mode_and_the_sweep_before_each_call(context: RunContext, reported: list[Event]) -> None:
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    job = CoreJob(source, Mode.BENCHMARK, "vector-addition", timing_mode=TimingMode.COLD)
    finished = await run(job, context, reported.append)
    assert finished.benchmarked is not None, finished
    assert finished.benchmarked.timing_mode == "cold"
    assert [event.timing_mode for event in reported if isinstance(event, Benchmarking)] == ["cold"]
    assert all(result.flush_bytes for result in finished.benchmarked.results)
    flush = finished.report["flush"]
    assert isinstance(flush, dict)
    assert finished.benchmarked.flush_verified is flush["verified"]


@pytest.mark.parametrize("verified", [True, False])
async def test_a_sweep_that_was_not_seen_to_empty_the_caches_says_so(
    context: RunContext, monkeypatch: pytest.MonkeyPatch, verified: bool
) -> None:
    async def calibrated(*_: object) -> Flush:
        return Flush(1 << 20, 1.0, 2.0, verified=verified)

    monkeypatch.setattr(benchmarking, "calibrated_flush", calibrated)
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    job = CoreJob(source, Mode.BENCHMARK, "vector-addition", timing_mode=TimingMode.COLD)
    finished = await run(job, context, lambda _: None)
    assert finished.benchmarked is not None, finished
    assert finished.benchmarked.flush_verified is verified
    assert ("not seen to empty the caches" in table_of(finished.benchmarked)) is not verified
    assert (CACHES_MAY_BE_WARM in finished.benchmarked.unproven_because) is not verified


async def test_the_largest_sweep_takes_nothing_of_what_a_submission_may_use(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def calibrated(*_: object) -> Flush:
        return Flush(CPU_FLUSH.most_bytes, 1.0, 2.0, verified=True)

    monkeypatch.setattr(benchmarking, "calibrated_flush", calibrated)
    small = replace(context, limits=replace(context.limits, runner=replace(context.limits.runner, memory_mib=96)))
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    job = CoreJob(source, Mode.BENCHMARK, "vector-addition", timing_mode=TimingMode.COLD)
    finished = await run(job, small, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished


async def test_each_first_call_has_a_process_of_its_own(
    context: RunContext, reported: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    open_runner = RunnerSession.open

    def counted(self: RunnerSession, build: Path) -> AbstractAsyncContextManager[None]:
        sessions.append(self)
        return open_runner(self, build)

    sessions: list[RunnerSession] = []
    monkeypatch.setattr(RunnerSession, "open", counted)
    job = CoreJob(
        (SUBMISSIONS / "slow_addition.hip").read_text(),
        Mode.BENCHMARK,
        "vector-addition",
        timing_mode=TimingMode.FIRST_CALL,
    )
    finished = await run(job, context, reported.append)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.benchmarked is not None
    assert finished.benchmarked.timing_mode == "first-call"
    assert finished.report["timing_mode"] == "first-call"
    samples = sum(result.samples for result in finished.benchmarked.results)
    calls = [session.calls for session in sessions]
    # Beside the samples' processes there are those of the check, the trusted runner and the chains; on a busy
    # machine also those of cases that were measured twice.
    assert calls.count(1) >= samples >= 3 * len(finished.benchmarked.results)
    assert all(
        result.first_call_ns == pytest.approx(result.runtime_ns, abs=1) for result in finished.benchmarked.results
    )
