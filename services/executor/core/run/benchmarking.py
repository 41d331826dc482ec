"""The benchmark stage: measures every public case in several sessions, whose calls are verified (`timed_calls.py`).

A session is a separate runner process, and visits the cases in its own order. After the planned sessions, cases whose
sessions disagree get more. In further sessions some calls of large cases are made again. In the last ones, chained
calls show whether the measured times can be true. If a busy machine hid this for a case, the case is measured once more
from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from functools import partial

from problems.kit.definition import Case, Problem
from services.executor.core.audit.chain import CPU_CHAINS, GPU_CHAINS, ChainAudit, audit_case, quiet_null_ns
from services.executor.core.audit.chain_audit import CPU_CHAIN_RULE, GPU_CHAIN_RULE
from services.executor.core.audit.judge_clock import CPU_RULE, GPU_RULE, long_way_ns, on_this_machine
from services.executor.core.audit.revealing import reveal
from services.executor.core.call.idle_work import idle_doubt
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.check.case_judge import USUAL_RULE, CaseJudge, LargeCaseRule
from services.executor.core.check.checking import Checker
from services.executor.core.check.run_verdict import Progress, Pulse
from services.executor.core.measure.measuring import measure, measure_first_calls, null_calls_ns
from services.executor.core.model.events import Benchmarked, Benchmarking, BenchmarkProgress, BenchmarkStage
from services.executor.core.model.failure import Failure, in_case
from services.executor.core.model.flushing import Flush, calibrated_flush, flush_profile
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.case_result import CaseTimes, Scale, audit_doubt, facts_of, fault_of, result_of
from services.executor.core.timing.benchmark_result import BenchmarkResult
from services.executor.core.timing.case_timing import (
    shown_interval_of_run,
    too_wide,
    unproven_run_because,
    worst_timing,
)
from services.executor.core.timing.session_rule import score
from services.executor.core.timing.statistics import geometric_mean
from services.executor.core.timing.stopping import CPU_PROFILE, GPU_PROFILE, StoppingProfile
from services.executor.devices.device import Device, DeviceDescription
from submissions.modes import TimingMode
from vocabulary.roofline import roofs_note, roofs_of

_NOT_CHAINED = ChainAudit((), "host code of the submission launched the calls")


@dataclass(frozen=True)
class Bench:
    """The tools that measure cases. `open_session` starts a fresh runner, `open_trusted` one of our own.

    `hidden` is called once in each session, somewhere between the public cases, so that public sizes are no sign of
    being measured. If host code of the submission runs in the process that launches the calls, `launched_by_submission`
    says so, and what to change (`case_timing.py`); otherwise it is empty. `machine_doubt` says why no time of this
    machine is proven.
    """

    problem: Problem
    device: Device
    profile: StoppingProfile
    open_session: Callable[[], AbstractAsyncContextManager[Checker]]
    open_trusted: Callable[[], AbstractAsyncContextManager[RunnerSession]]
    hidden: Case | None = None
    mode: TimingMode = TimingMode.COLD
    launched_by_submission: str = ""
    machine_doubt: str = ""
    large: LargeCaseRule = USUAL_RULE


def profile_of(device: DeviceDescription) -> StoppingProfile:
    """The measuring budget of a device."""
    return GPU_PROFILE if device.is_gpu else CPU_PROFILE


async def benchmark(bench: Bench, cases: Sequence[Case], progress: Progress) -> None:
    """Measure every case; raises Failure for a wrong call, and for times that cannot be true."""
    progress.tell(Benchmarking(len(cases), bench.mode))
    scale = _scale(bench, progress.job.dtype)
    if bench.device.describe().is_gpu:
        progress.report["roofs"] = roofs_note(scale.roofs, bench.device.describe().title)
    async with bench.open_trusted() as trusted:
        flush = await _flush(bench, trusted, progress)
        flush_bytes = flush.size_bytes if flush else 0
        scale = await _scale_here(bench, trusted, scale)
        scale = replace(scale, caches_may_be_warm=flush is not None and not flush.verified)
        pulse = Pulse(progress.tell)
        untimed = [CaseTimes(case, index, len(cases)) for index, case in enumerate(cases)]
        measured = await _timed(bench, trusted, untimed, (scale, flush_bytes), pulse)
        if not any(fault_of(bench.problem, times, scale) for times in measured):
            again = [untimed[times.index] for times in measured if _may_be_told_by_another_try(bench, times, scale)]
            for times in await _timed(bench, trusted, again, (scale, flush_bytes), pulse) if again else ():
                measured[times.index] = times
    progress.report |= _looked_at(measured)
    facts = [facts_of(bench.problem, times, scale, bench.launched_by_submission) for times in measured]
    results = [
        result_of(bench.problem, times, scale, facts_of_case)
        for times, facts_of_case in zip(measured, facts, strict=True)
    ]
    for result in results:
        progress.tell(result)
    progress.benchmarked = _summary(results, bench, flush)
    progress.tell(progress.benchmarked)
    faults = [f"case `{case.name}`: {one.fault}" for case, one in zip(cases, facts, strict=True) if one.fault]
    if faults:
        message = (
            f"The times cannot be true ({faults[0]}): do all work on streams that the default stream waits for, and "
            "start no work that goes on after `solution` has returned."
        )
        raise Failure(Verdict.TIMING_INVALID, message, details="\n".join(faults))


async def _timed(
    bench: Bench, trusted: RunnerSession, untimed: Sequence[CaseTimes], how: tuple[Scale, int], pulse: Pulse
) -> list[CaseTimes]:
    """Cases measured and audited; `how` is the scale and the bytes to sweep before each call."""
    scale, flush_bytes = how
    measure_all = _first_calls if bench.mode is TimingMode.FIRST_CALL else _measured
    measured = await measure_all(bench, untimed, flush_bytes, pulse)
    return await _audited(bench, trusted, await _revealed(bench, measured, pulse), scale, pulse)


def _may_be_told_by_another_try(bench: Bench, times: CaseTimes, scale: Scale) -> bool:
    """True if only a busy machine makes a time doubtful. What host code of the submission did, it would do again."""
    if bench.launched_by_submission:
        return False
    is_wide = too_wide(facts_of(bench.problem, times, scale, ""))
    return bool(audit_doubt(times, scale) or idle_doubt(times.idle) or is_wide)


async def _flush(bench: Bench, trusted: RunnerSession, progress: Progress) -> Flush | None:
    if not bench.profile.cold:
        return None
    flush = await calibrated_flush(trusted, flush_profile(bench.device.describe()))
    progress.report["flush"] = asdict(flush)
    return flush


async def _scale_here(bench: Bench, trusted: RunnerSession, scale: Scale) -> Scale:
    """The rules of the judge's clock, with the way to a runner as our own runner shows it on this machine."""
    if not bench.device.describe().is_gpu:
        return scale
    nulls_ns = await null_calls_ns(trusted, bench.device)
    chain_rule = replace(scale.chain_rule, way_ns=long_way_ns(nulls_ns))
    return replace(scale, audit_rule=on_this_machine(scale.audit_rule, nulls_ns), chain_rule=chain_rule)


async def _measured(bench: Bench, untimed: Sequence[CaseTimes], flush_bytes: int, pulse: Pulse) -> list[CaseTimes]:
    """Measures every case in as many sessions as it wants, each in an order that nobody can predict."""
    measured = {times.index: times for times in untimed}
    planned, session = bench.profile.sessions.sessions, 0
    while wanting := [times for times in measured.values() if times.wants_more(bench.profile.sessions)]:
        async with bench.open_session() as checker:
            hidden_at = int(checker.seed.generator("hidden place", session).integers(len(wanting)))
            for place, times in enumerate(_shuffled(checker, session, wanting)):
                if bench.hidden is not None and place == hidden_at:
                    await checker.call(checker.judge(bench.hidden, times.total_tests))
                judge = checker.judge(times.case, times.index)
                pulse.at(_place(BenchmarkStage.MEASURING, times, session + 1, planned))
                measurement = await measure(checker, judge, bench.profile, bench.device, flush_bytes, pulse.sample)
                measured[times.index] = replace(times, sessions=(*times.sessions, measurement))
        session += 1
    return list(measured.values())


async def _first_calls(bench: Bench, untimed: Sequence[CaseTimes], flush_bytes: int, pulse: Pulse) -> list[CaseTimes]:
    """Measures first calls of every case, each in a fresh runner."""
    measured: list[CaseTimes] = []
    for times in untimed:
        pulse.at(_place(BenchmarkStage.MEASURING, times, 1, 1))
        measurement = await measure_first_calls(
            bench.open_session, partial(_judge_of, times), bench.profile, bench.device, flush_bytes, pulse.sample
        )
        measured.append(replace(times, sessions=(measurement,)))
    return measured


def _judge_of(times: CaseTimes, checker: Checker) -> CaseJudge:
    return checker.judge(times.case, times.index)


def _shuffled(checker: Checker, session: int, cases: Sequence[CaseTimes]) -> list[CaseTimes]:
    order = checker.seed.generator("session order", session).permutation(len(cases))
    return [cases[int(at)] for at in order]


async def _revealed(bench: Bench, measured: Sequence[CaseTimes], pulse: Pulse) -> list[CaseTimes]:
    """Repeats some timed calls when all are over. Each case gets its own process, as slow ones take minutes."""
    revealed: list[CaseTimes] = []
    for times in measured:
        found = times.revealed
        if any(call.commitment for call in times.calls):
            pulse.at(_place(BenchmarkStage.AUDITING, times, 1, 1))
            async with bench.open_session() as checker:
                found = await reveal(checker, checker.judge(times.case, times.index), times.sessions)
        revealed.append(replace(times, revealed=found))
    return revealed


async def _audited(
    bench: Bench, trusted: RunnerSession, measured: Sequence[CaseTimes], scale: Scale, pulse: Pulse
) -> list[CaseTimes]:
    """Audits every case with chains, in separate sessions; it ends with the first case that cannot be true.

    A process may be slower than others. So if the chains of one process contradict a time on a GPU, the case is audited
    in another as well, and judged by all of its chains. Chains prove nothing about calls that host code of the
    submission launched.
    """
    if bench.launched_by_submission:
        return [replace(times, audit=_NOT_CHAINED) for times in measured]
    audited = list(measured)
    if any(fault_of(bench.problem, times, scale) for times in measured):
        return audited
    is_gpu = bench.device.describe().is_gpu
    profile = GPU_CHAINS if is_gpu else CPU_CHAINS
    quiet_ns = [await quiet_null_ns(trusted, _judge_of_ours(bench, times), profile) for times in measured]
    for is_last in (False, True) if is_gpu else (True,):
        places = [
            at for at, times in enumerate(audited) if times.audit is None or fault_of(bench.problem, times, scale)
        ]
        if not places:
            break
        async with bench.open_session() as checker:
            for at in places:
                times = audited[at]
                pulse.at(_place(BenchmarkStage.AUDITING, times, 1, 1))
                judge, claimed_ns = checker.judge(times.case, times.index), score(times.medians_ns)
                with in_case(times.case.name):
                    limits = (profile, scale.chain_rule)
                    audit = await audit_case(checker, trusted, judge, claimed_ns, limits, quiet_ns[at])
                audited[at] = replace(times, audit=times.audit + audit if times.audit else audit)
                if is_last and fault_of(bench.problem, audited[at], scale):
                    break
    return audited


def _place(stage: BenchmarkStage, times: CaseTimes, session: int, sessions: int) -> BenchmarkProgress:
    planned = max(session, sessions)
    return BenchmarkProgress(stage, session, planned, times.index + 1, times.case.name, times.total_tests)


def _judge_of_ours(bench: Bench, times: CaseTimes) -> CaseJudge:
    """A judge for a runner of our own; no other runner gets its inputs."""
    return CaseJudge(bench.problem, times.case, RunSeed(), times.index, bench.large)


def _looked_at(measured: Sequence[CaseTimes]) -> dict[str, object]:
    """For the signed report: how many calls had their answers compared, of how many, and how many were made again."""
    checked = {
        times.case.name: [
            sum(one.checked_calls for one in times.sessions) + times.revealed.checked,
            sum(one.calls for one in times.sessions),
        ]
        for times in measured
    }
    replayed = {times.case.name: times.revealed.replayed for times in measured}
    return {"checked_calls": checked, "replayed_calls": replayed}


def _scale(bench: Bench, dtype: str) -> Scale:
    device = bench.device.describe()
    rules = (GPU_RULE, GPU_CHAIN_RULE) if device.is_gpu else (CPU_RULE, CPU_CHAIN_RULE)
    return Scale(
        roofs_of(device.architecture, device.title),
        dtype,
        *rules,
        bench.profile.sessions,
        is_gpu=device.is_gpu,
        machine_doubt=bench.machine_doubt,
    )


def _summary(results: Sequence[BenchmarkResult], bench: Bench, flush: Flush | None) -> Benchmarked:
    device = bench.device.describe()
    return Benchmarked(
        results=tuple(results),
        mean_runtime_ns=geometric_mean([result.runtime_ns for result in results]),
        mean_gflops=geometric_mean([result.gflops for result in results]),
        timing=worst_timing(result.timing for result in results),
        device=device.name,
        converged=all(result.converged for result in results),
        simulated=device.is_simulated,
        timing_mode=bench.mode,
        flush_verified=flush.verified if flush else None,
        unproven_because=unproven_run_because([(result.name, result.unproven_because) for result in results]),
        shown_interval=shown_interval_of_run(results),
    )
