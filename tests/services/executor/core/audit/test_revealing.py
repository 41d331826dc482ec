"""Timed calls that are repeated: how many, the chance to miss an error, and kernels that answer differently then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.definition import Case, Problem
from problems.kit.parts import FEWEST_PIECES
from services.executor.core.audit.revealing import (
    REPLAY_SECONDS,
    REPLAYED_CALLS,
    calls_to_replay,
    reveal,
)
from services.executor.core.call.commitment import Commitment, Question
from services.executor.core.call.layout import EXCERPT_ELEMENTS
from services.executor.core.call.runner_session import CallTimes, RunnerSession
from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.certify.known_times import smallest_case_of, with_case
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.check.chain_rules import redraw_rules
from services.executor.core.check.checking import Checker
from services.executor.core.measure.measuring import Measurement
from services.executor.core.model.events import Finished
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue, find_problem
from services.executor.core.run.one_run import run
from services.executor.core.timing.benchmark_result import Timing
from services.executor.core.timing.session_rule import GPU_SESSIONS
from services.executor.core.timing.stopping import GPU_PROFILE, StopReason
from services.executor.devices.sim.sim_device import SimulatedGpu
from submissions.modes import Mode, TimingMode
from tests.services.executor.core.conftest import ALL_LARGE
from tests.services.executor.core.run.test_simulated_gpu import FIXED, HONEST
from tests.services.executor.core.runner_pair import runner_pair
from tests.tiers import sampled

COMPARED_ANSWERS = ALL_LARGE.compared_answers
SHORT = replace(FIXED, max_samples=12, warm_up_most_calls=3)
LARGE: dict[str, dict[str, Any]] = {
    "relu": {"n": 1024, "m": 1024},
    "softmax": {"shape": (1024, 1024), "dim": 1},
    "diagonal-matmul": {"n": 1024, "m": 1024},
    "matrix-multiplication": {"n": 640, "m": 640, "k": 640},
}
"""Cases above 4 MiB, under the product's own rules; `cpu` has none."""
NONDETERMINISTIC = ["cumsum", "mse-loss", "layer-norm", "scaled-dot-attention", "nvfp4-gemm", "conv-2d", "batch-norm"]


def _large(slug: str) -> Problem:
    problem = find_problem(slug)
    return with_case(problem, Case("large", {**problem.sizes.cpu[0].values, **LARGE[slug]}))


@pytest.mark.parametrize(
    ("samples", "replayed", "sessions_unnoticed"), [(24, 24, 0.0), (100, 24, 2**-24), (2000, 24, 2**-24)]
)
def test_what_is_not_a_function_of_the_inputs_goes_unnoticed_as_rarely_as_is_said(
    samples: int, replayed: int, sessions_unnoticed: float
) -> None:
    assert _unnoticed(samples, replayed) <= sessions_unnoticed


def test_slow_calls_are_made_again_less_often_and_still_often_enough() -> None:
    """The session ends by wall time: it has as many samples as fit into it if drawing and digesting take no time."""
    for call_seconds in (tenths_ms / 1e4 for tenths_ms in range(1, 50_000, 7)):
        samples = max(GPU_PROFILE.fewest_samples, int(GPU_PROFILE.max_wall_seconds / call_seconds))
        replayed = calls_to_replay(call_seconds, COMPARED_ANSWERS)
        assert replayed * call_seconds <= REPLAY_SECONDS or replayed == COMPARED_ANSWERS
        assert _unnoticed(samples, min(samples, replayed)) <= 1 / 1_900, call_seconds


def _unnoticed(samples: int, replayed: int) -> float:
    """The chance that none of the repeated calls is wrong, if half of a session's samples are."""
    wrong = ceil(samples / 2)
    return comb(samples - wrong, replayed) / comb(samples, replayed)


@pytest.mark.parametrize(
    ("left_out", "runs"), [(0.01, 300), (0.02, 22_000), (0.05, 10_000_000)], ids=["1 %", "2 %", "5 %"]
)
def test_what_is_a_function_of_the_inputs_is_noticed_in_the_answers_that_are_compared(
    left_out: float, runs: int
) -> None:
    """The kernel skips this share of rows for every other input. It cannot tell sessions apart: all of them count."""
    missed = 0.5 + 0.5 * (1.0 - left_out) ** FEWEST_PIECES
    chance = missed ** (GPU_SESSIONS.sessions * (1 + COMPARED_ANSWERS))
    assert 1 / (1.1 * runs) <= chance <= 1 / runs or chance < 1e-7


@pytest.mark.parametrize(
    ("left_out", "sessions_unnoticed"),
    [(0.01, 1e-7), (0.001, 1.1e-4), (0.0001, 0.31)],
    ids=["1 %", "0.1 %", "0.01 %"],
)
def test_what_is_left_out_of_some_calls_is_noticed_in_excerpts_as_often_as_is_said(
    left_out: float, sessions_unnoticed: float
) -> None:
    """A kernel that does not know the places skips elements in half of a session's samples."""
    sent_of_anywhere = EXCERPT_ELEMENTS // 2
    missed = (1.0 - left_out) ** sent_of_anywhere
    for samples in (48, 100, 2000):
        wrong = samples // 2
        chance = sum(
            comb(wrong, some) * comb(samples - wrong, REPLAYED_CALLS - some) * missed**some
            for some in range(REPLAYED_CALLS + 1)
        )
        assert chance / comb(samples, REPLAYED_CALLS) <= sessions_unnoticed


@pytest.mark.parametrize(("samples", "runs"), [(22, 3_700_000), (100, 110_000), (2000, 65_000)])
def test_what_is_off_by_little_in_half_of_the_samples_of_two_sessions_is_compared_as_often_as_is_said(
    samples: int, runs: int
) -> None:
    assert _unnoticed(samples, COMPARED_ANSWERS) ** 2 <= 1 / runs


@pytest.mark.parametrize("device", ["cpu", "sim"])
@pytest.mark.parametrize("slug", sampled(LARGE, ["relu"]))
async def test_honest_kernels_answer_alike_when_their_timed_calls_are_made_again(
    context: RunContext, device: str, slug: str
) -> None:
    finished = await _benchmarked(_on(context, device), catalogue().get(slug).solution, slug)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.benchmarked is not None
    # A busy machine may hide a time on `cpu`.
    trusted = {Timing.VALID} if device == "sim" else {Timing.VALID, Timing.UNPROVEN, Timing.UNSTABLE}
    assert finished.benchmarked.timing in trusted, finished
    assert "ended otherwise" not in finished.benchmarked.unproven_because
    (replayed,) = dict(finished.report["replayed_calls"]).values()
    assert replayed == min(finished.benchmarked.results[0].samples, 3 * REPLAYED_CALLS)


LIES = {
    "by the count of calls": "calls % 2",
    "by the device's clock": "clock64() / 4096 % 2",
    "in all later calls": "true",
}
HONEST_CALLS = 45
"""More than the repeated calls of `solution`, and more than a chain's links."""


def _lie(lie: str, i: str = "i") -> str:
    """A kernel statement for thread i that makes a single element wrong in later calls."""
    return f"if ({i} == 7 && ++calls > {HONEST_CALLS} && ({lie})) c[{i}] = 0;"


@pytest.fixture
def digests_alone(context: RunContext) -> RunContext:
    """The simulated GPU, on a case that counts as large; no sample's answer is compared with the reference."""
    context = replace(context, large_cases=replace(ALL_LARGE, compared_answers=0))
    more_samples = replace(FIXED, max_samples=40)
    return replace(_on(context, "sim"), find_problem=smallest_case_of, profile=more_samples)


@pytest.mark.parametrize("lie", LIES)
async def test_a_kernel_that_is_wrong_for_other_reasons_than_its_inputs_is_found_out(
    digests_alone: RunContext, lie: str
) -> None:
    """Its digests reveal it; then `solution` is measured with every answer compared, and is wrong too."""
    finished = await _benchmarked(digests_alone, _lying(LIES[lie]), "vector-addition")
    assert finished.verdict is Verdict.WRONG_ANSWER, finished


async def test_a_right_answer_that_is_another_than_before_is_reported_as_what_it_is(context: RunContext) -> None:
    context = replace(context, large_cases=ALL_LARGE)
    problem = find_problem("vector-addition")
    async with runner_pair(context, problem, HONEST) as (checker, _):
        launching, judge, times = await _timed(checker, problem)
        alike = await reveal(launching, judge, [Measurement(times, (), StopReason.SAMPLES)])
        assert (alike.replayed, alike.checked) == (len(times), COMPARED_ANSWERS)
        reported = times[5].commitment
        assert reported is not None
        assert isinstance(reported.reported, tuple)
        other = replace(
            times[5], commitment=replace(reported, reported=(reported.reported[0], reported.reported[1] ^ 1))
        )
        with pytest.raises(Failure) as caught:
            await reveal(launching, judge, [Measurement((*times[:5], other, *times[6:]), (), StopReason.SAMPLES)])
    assert caught.value.verdict is Verdict.NONDETERMINISTIC
    said = "two calls with the same inputs, a timed one and the same in another process, gave different answers"
    assert said in caught.value.message


async def test_answers_that_are_made_again_are_compared_with_the_reference(context: RunContext) -> None:
    """A function of the inputs has the same digest each time; here half of the inputs trigger the error."""
    context = replace(context, large_cases=ALL_LARGE)
    problem = find_problem("vector-addition")
    source = HONEST.replace("c[i] = a[i] + b[i];", "c[i] = i == 7 && a[0] > 0 ? 0 : a[i] + b[i];")
    async with runner_pair(context, problem, source) as (checker, _):
        launching, judge, times = await _timed(checker, problem)
        with pytest.raises(Failure) as caught:
            await reveal(launching, judge, [Measurement(times, (), StopReason.SAMPLES)])
    assert caught.value.verdict is Verdict.WRONG_ANSWER, caught.value.message


async def test_a_digest_that_is_not_that_of_the_outputs_is_a_forgery(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulates a kernel that overwrote the digesting kernels: the digest is the same each time."""
    context = replace(context, large_cases=ALL_LARGE)

    async def forged(_: RunnerSession, question: Question) -> Commitment:
        return Commitment(question.key, question.call, (1, 2))

    monkeypatch.setattr(RunnerSession, "_commitment", forged)
    one_case = replace(_on(context, "sim"), find_problem=smallest_case_of)
    finished = await _benchmarked(one_case, HONEST, "vector-addition")
    assert finished.verdict is Verdict.TIMING_INVALID, finished


@pytest.mark.parametrize("lie", LIES)
async def test_a_kernel_of_a_nondeterministic_problem_is_found_out_by_excerpts(
    digests_alone: RunContext, lie: str
) -> None:
    """A single one of a thousand sums is wrong."""
    honest = "if (lane == 0) c[row] = sum;"
    source = catalogue().get("matrix-vector").solution.replace("__global__", "__device__ int calls;\n__global__", 1)
    assert honest in source
    wrong = source.replace(honest, f"{honest}\n    if (lane == 0) {_lie(LIES[lie], 'row')}")
    finished = await _benchmarked(digests_alone, wrong, "matrix-vector")
    assert finished.verdict is Verdict.WRONG_ANSWER, finished


def _moved(times: CallTimes, by: Callable[[NDArray[Any]], NDArray[Any]]) -> CallTimes:
    """The times with other values in the reported excerpt."""
    reported = times.commitment
    assert reported is not None
    assert not isinstance(reported.reported, tuple)
    return replace(
        times, commitment=replace(reported, reported={name: by(values) for name, values in reported.reported.items()})
    )


async def test_excerpts_of_timed_calls_are_compared_with_what_is_made_again_and_with_the_reference(
    context: RunContext,
) -> None:
    context = replace(context, large_cases=ALL_LARGE)
    problem = smallest_case_of("matrix-vector")
    signs = np.resize(np.float32([1, -1]), EXCERPT_ELEMENTS)
    async with runner_pair(context, problem, catalogue().get("matrix-vector").solution) as (checker, _):
        launching, judge, times = await _timed(checker, problem)
        apart = np.float32(judge.allowances(judge.draw(1))["output_c"].apart(np.zeros(())))

        async def verdict(timed: Sequence[CallTimes]) -> Verdict:
            try:
                revealed = await reveal(launching, judge, [Measurement(tuple(timed), (), StopReason.SAMPLES)])
            except Failure as failure:
                return failure.verdict
            assert (revealed.replayed, revealed.checked) == (len(timed), COMPARED_ANSWERS)
            return Verdict.ACCEPTED

        assert await verdict(times) is Verdict.ACCEPTED
        assert (
            await verdict([_moved(one, lambda values: values + 1e-3 * apart * signs) for one in times])
            is Verdict.ACCEPTED
        )
        # Alike, but none of the excerpts is right by itself.
        near = [_moved(one, lambda reported: reported + 0.3 * apart * signs) for one in times]
        assert await verdict(near) in {Verdict.WRONG_ANSWER, Verdict.PRECISION}
        # A single differing element is found, even without the reference.
        judge.large = replace(ALL_LARGE, compared_answers=0)
        far = [
            *times[:5],
            _moved(times[5], lambda reported: np.where(np.arange(reported.size) == 7, 9 * apart, reported)),
            *times[6:],
        ]
        assert await verdict(far) in {Verdict.WRONG_ANSWER, Verdict.NONDETERMINISTIC}


async def test_an_excerpt_that_is_not_that_of_the_outputs_is_a_forgery(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second process reports a matching excerpt, but not the values in its outputs."""
    context = replace(context, large_cases=ALL_LARGE)
    problem = smallest_case_of("matrix-vector")
    async with runner_pair(context, problem, catalogue().get("matrix-vector").solution) as (checker, _):
        launching, judge, times = await _timed(checker, problem)
        reported = RunnerSession._commitment

        async def forged(session: RunnerSession, question: Question) -> Commitment:
            right = await reported(session, question)
            assert not isinstance(right.reported, tuple)
            return replace(
                right, reported={name: values * np.float32(1 + 2**-22) for name, values in right.reported.items()}
            )

        monkeypatch.setattr(RunnerSession, "_commitment", forged)
        with pytest.raises(Failure) as caught:
            await reveal(launching, judge, [Measurement(times, (), StopReason.SAMPLES)])
    assert caught.value.verdict is Verdict.TIMING_INVALID, caught.value.message


@pytest.mark.parametrize("slug", sampled(NONDETERMINISTIC, NONDETERMINISTIC[:2]))
async def test_honest_kernels_of_nondeterministic_problems_tell_the_same_again(context: RunContext, slug: str) -> None:
    context = replace(context, large_cases=ALL_LARGE)
    problem = find_problem(slug)
    one_case = replace(_on(context, "sim"), find_problem=lambda _: with_case(problem, problem.sizes.cpu[0]))
    finished = await _benchmarked(one_case, catalogue().get(slug).solution, slug)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.benchmarked is not None
    assert (finished.benchmarked.timing, finished.benchmarked.unproven_because) == (Timing.VALID, "")
    (replayed,) = dict(finished.report["replayed_calls"]).values()
    assert replayed == finished.benchmarked.results[0].samples


async def test_first_calls_are_made_again_as_well(context: RunContext) -> None:
    context = replace(context, large_cases=ALL_LARGE)
    one_case = replace(_on(context, "sim"), find_problem=smallest_case_of)
    finished = await _benchmarked(one_case, HONEST, "vector-addition", timing_mode=TimingMode.FIRST_CALL)
    assert finished.verdict is Verdict.ACCEPTED, finished
    (made_again,) = dict(finished.report["replayed_calls"]).values()
    assert finished.benchmarked is not None
    assert made_again == min(REPLAYED_CALLS, finished.benchmarked.results[0].samples)


@pytest.mark.parametrize("asked", ["digest", "excerpt"])
async def test_nothing_is_sent_of_a_call_that_was_not_redrawn(context: RunContext, asked: str) -> None:
    problem = find_problem("vector-addition")
    async with runner_pair(context, problem, HONEST) as (checker, _):
        judge = checker.judge(problem.sizes.cpu[0], 0)
        await checker.call(judge)
        excerpt = judge.excerpt(judge.draw(1), 1) if asked == "excerpt" else None
        with pytest.raises(Failure) as caught:
            await checker.session.call(10.0, question=Question(1, 1, excerpt))
    assert caught.value.verdict is Verdict.RUNTIME_ERROR, caught.value.message


async def test_what_is_never_written_has_another_digest_when_the_key_comes_again(context: RunContext) -> None:
    problem = find_problem("vector-addition")
    async with trusted_runner(context, context.cache) as session:
        checker = Checker(problem, RunSeed("poison"), session)
        judge = checker.judge(problem.sizes.cpu[0], 0)
        drawn = judge.draw(checker.next_call())
        await checker.load(judge, replace(drawn, rules=redraw_rules(problem, drawn.inputs) or {}))
        first, second = [
            (await checker.make_redrawn(judge, Question(5), checker.next_call())).commitment for _ in range(2)
        ]
    assert first is not None
    assert first != second


async def _timed(checker: Checker, problem: Problem) -> tuple[Checker, CaseJudge, tuple[CallTimes, ...]]:
    """Times calls as our runner does for a case that a device draws, though `solution` is in this process."""
    launching = Checker(problem, RunSeed("revealed"), checker.session, program_of=lambda _, __: b"", large=ALL_LARGE)
    judge = launching.judge(problem.sizes.cpu[0], 0)
    loaded = await launching.load_undrawn(judge)
    assert loaded is not None
    questions = [launching.question(judge, loaded, launching.next_call()) for _ in range(12)]
    times = [await launching.make_redrawn(judge, question, question.call) for question in questions]
    return launching, judge, tuple(times)


def _lying(lie: str) -> str:
    source = HONEST.replace("__global__", "__device__ int calls;\n__global__", 1)
    honest = "if (i < n) c[i] = a[i] + b[i];"
    assert honest in source
    return source.replace(honest, f"{honest}\n  {_lie(lie)}")


def _on(context: RunContext, device: str) -> RunContext:
    """The context on this device, with the large cases."""
    fitted = replace(context, find_problem=_large, limits=_roomy(context))
    return replace(fitted, device=SimulatedGpu(), profile=SHORT) if device == "sim" else fitted


def _roomy(context: RunContext) -> StageLimits:
    return replace(context.limits, runner=replace(context.limits.runner, memory_mib=1024))


async def _benchmarked(context: RunContext, source: str, slug: str, **how: Any) -> Finished:
    job = CoreJob(f"// sim: latency_us=100 noise=quiet\n{source}", Mode.BENCHMARK, slug, seed="a", **how)
    return await run(job, context, lambda _: None)
