"""Chains of calls on real runners: honest ones are believed, and runners that skip or delay the work are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from problems.kit.chaining import FIXED
from problems.library.catalogue import load_problem
from services.executor.core.audit.chain import CPU_CHAINS, ChainAudit, ChainProfile, audit_case, quiet_null_ns
from services.executor.core.audit.chain_audit import CPU_CHAIN_RULE, audited_call_ns, shortfall
from services.executor.core.call.layout import read_records
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.model.failure import Failure
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.devices.sim.sim_device import SimulatedGpu
from tests.services.executor.core.conftest import SUBMISSIONS
from tests.services.executor.core.mixed_problem import MIXED_SOLUTION, MixedProblem
from tests.services.executor.core.runner_pair import runner_pair

PROBLEMS = Path(__file__).parents[5] / "problems" / "catalogue"
LIMITS = (CPU_CHAINS, CPU_CHAIN_RULE)
# Long enough for several links to be alike, and for links to be left out.
LONG = replace(CPU_CHAINS, links=12, most_chains=1)


async def _audit(
    context: RunContext,
    name: str,
    profile: ChainProfile = LONG,
    claimed_ns: float = 1e9,
    quiet_ns: int | None = None,
) -> ChainAudit:
    problem = load_problem(PROBLEMS / "vector-addition").problem
    async with runner_pair(context, problem, (SUBMISSIONS / f"{name}.hip").read_text()) as (checker, trusted):
        judge = checker.judge(problem.sizes.cpu[0], 0)
        return await audit_case(checker, trusted, judge, claimed_ns, (profile, CPU_CHAIN_RULE), quiet_ns)


async def test_an_honest_time_is_believed_and_half_of_it_is_not(context: RunContext) -> None:
    problem = load_problem(PROBLEMS / "vector-addition").problem
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    async with runner_pair(context, problem, source) as (checker, trusted):
        judge = checker.judge(problem.sizes.cpu[0], 0)
        claimed_ns = median([(await checker.call(judge)).event_ns for _ in range(5)])
        # On a busy machine it takes long until a chain is undisturbed.
        patient = replace(CPU_CHAINS, most_chains=400, most_seconds=60.0)
        honest = await audit_case(checker, trusted, judge, claimed_ns, (patient, CPU_CHAIN_RULE))
        assert not shortfall(claimed_ns, honest.chains, CPU_CHAIN_RULE), honest
        assert all(chain.checked == chain.calls == CPU_CHAINS.links for chain in honest.chains)
        # Half the time of the shortest chain, so that a busy machine makes no difference; halved once more for safety.
        forged_ns = (audited_call_ns(honest.chains) or 0.0) / 4
        few = replace(CPU_CHAINS, most_chains=6, most_seconds=60.0)
        forged = await audit_case(checker, trusted, judge, forged_ns, (few, CPU_CHAIN_RULE))
        assert len(forged.chains) == 6
        assert shortfall(forged_ns, forged.chains, CPU_CHAIN_RULE)


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("cached_answer", {Verdict.WRONG_ANSWER}),
        ("call_counter", {Verdict.WRONG_ANSWER}),
        ("empty_kernel", {Verdict.WRONG_ANSWER}),
        # The work comes too late for the digest; and for the next link's inputs, if the machine is slow.
        ("late_worker", {Verdict.TIMING_INVALID, Verdict.WRONG_ANSWER}),
        ("input_modified", {Verdict.INPUT_MODIFIED}),
        ("out_of_bounds", {Verdict.OUT_OF_BOUNDS}),
    ],
)
async def test_a_cheat_is_found_out_by_the_chain_alone(context: RunContext, name: str, verdicts: set[Verdict]) -> None:
    with pytest.raises(Failure) as caught:
        await _audit(context, name)
    assert caught.value.verdict in verdicts, caught.value.message


async def test_a_wrong_link_counts_before_what_later_links_did(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CaseJudge, "at_once", 6)
    problem = load_problem(PROBLEMS / "vector-addition").problem
    source = (SUBMISSIONS / "wrong_then_worse.hip").read_text().replace("FIRST_WRONG", "2")
    async with runner_pair(context, problem, source) as (checker, trusted):
        with pytest.raises(Failure) as caught:
            await audit_case(checker, trusted, checker.judge(problem.sizes.cpu[0], 0), 1e9, (LONG, CPU_CHAIN_RULE))
    assert caught.value.verdict is Verdict.WRONG_ANSWER, caught.value.message


async def test_saying_done_before_the_chain_is_done_shows_in_the_digests(context: RunContext) -> None:
    problem = load_problem(PROBLEMS / "vector-addition").problem
    source = (SUBMISSIONS / "early_done.hip").read_text()
    async with runner_pair(context, problem, source) as (checker, trusted):
        judge = checker.judge(problem.sizes.cpu[0], 0)
        await checker.call(judge)
        with pytest.raises(Failure) as caught:
            await audit_case(checker, trusted, judge, 1e9, (LONG, CPU_CHAIN_RULE))
    assert caught.value.verdict is Verdict.TIMING_INVALID
    assert "changed after the call was said to be done" in caught.value.message


async def test_of_a_chain_that_is_too_large_the_last_link_and_a_few_others_are_checked(context: RunContext) -> None:
    audit = await _audit(context, "slow_addition", replace(LONG, wholly_checked_bytes=0))
    assert [(chain.calls, chain.checked) for chain in audit.chains] == [(12, 9)]


async def test_a_chain_is_as_long_as_the_memory_allows(context: RunContext) -> None:
    slot_bytes = 4 * 2**18 + 2 * 4096
    audit = await _audit(context, "slow_addition", replace(LONG, most_bytes=3 * slot_bytes))
    assert [chain.calls for chain in audit.chains] == [3]
    audit = await _audit(context, "slow_addition", replace(LONG, most_bytes=slot_bytes - 1))
    assert (audit.chains, audit.why_none) == ((), "the outputs are too large to keep")


async def test_arguments_of_every_kind_go_through_a_chain(context: RunContext) -> None:
    problem = MixedProblem()
    async with runner_pair(context, problem, MIXED_SOLUTION) as (checker, trusted):
        judge = checker.judge(problem.sizes.cpu[1], 0)
        audit = await audit_case(checker, trusted, judge, 1e9, (LONG, CPU_CHAIN_RULE))
    assert [(chain.calls, chain.checked) for chain in audit.chains] == [(12, 12)]


async def test_a_problem_whose_inputs_may_not_change_has_no_chain_and_says_why(context: RunContext) -> None:
    problem = MixedProblem()
    problem.chain = {"x": FIXED}
    async with runner_pair(context, problem, MIXED_SOLUTION) as (checker, trusted):
        audit = await audit_case(checker, trusted, checker.judge(problem.sizes.cpu[0], 0), 1e9, LIMITS)
    assert audit.chains == ()
    assert "`Problem.chain`" in audit.why_none


async def test_empty_chains_are_made_before_the_submission_has_a_process(context: RunContext) -> None:
    entry = load_problem(PROBLEMS / "vector-addition")
    judge = CaseJudge(entry.problem, entry.problem.sizes.cpu[0], RunSeed(), 0)
    async with trusted_runner(context, context.cache) as trusted:
        quiet_ns = await quiet_null_ns(trusted, judge, replace(LONG, quiet_chains=2))
        assert quiet_ns is not None
        assert quiet_ns > 0
        assert await quiet_null_ns(trusted, judge, CPU_CHAINS) is None


async def test_a_chain_comes_right_after_its_preparation_and_not_after_work_of_another_process(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU that turns to another process takes as long as many a kernel."""
    problem = load_problem(PROBLEMS / "vector-addition").problem
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    orders: list[tuple[str, str]] = []
    async with runner_pair(context, problem, source) as (checker, trusted):
        names = {id(trusted): "ours", id(checker.session): "the submission's"}
        for name in ("prepare_chain", "run_chain"):
            original = getattr(RunnerSession, name)

            async def noted(session: RunnerSession, *arguments: Any, do: Any = original, name: str = name) -> Any:
                orders.append((names[id(session)], name))
                return await do(session, *arguments)

            monkeypatch.setattr(RunnerSession, name, noted)
        await audit_case(checker, trusted, checker.judge(problem.sizes.cpu[0], 0), 1e9, (LONG, CPU_CHAIN_RULE))
    assert orders == [
        ("ours", "prepare_chain"),
        ("ours", "run_chain"),
        ("the submission's", "prepare_chain"),
        ("the submission's", "run_chain"),
    ]


async def test_chains_know_the_empty_one_from_before(context: RunContext) -> None:
    audit = await _audit(context, "slow_addition", quiet_ns=1)
    assert [chain.null_ns for chain in audit.chains] == [1]


async def test_an_empty_chain_launches_kernels_and_is_told_without_their_time(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only so does it cost what a chain of launches costs: on a GPU the gap between two kernels is some 4 us."""
    simulated = replace(context, device=SimulatedGpu())
    entry = load_problem(PROBLEMS / "vector-addition")
    judge = CaseJudge(entry.problem, entry.problem.sizes.cpu[0], RunSeed(), 0)
    walls_ns: list[int] = []
    run_chain = RunnerSession.run_chain

    async def noted(session: RunnerSession, nonce: int, seconds: float) -> int:
        walls_ns.append(await run_chain(session, nonce, seconds))
        return walls_ns[-1]

    monkeypatch.setattr(RunnerSession, "run_chain", noted)
    async with trusted_runner(simulated, simulated.cache) as trusted:
        empty_ns = await quiet_null_ns(trusted, judge, replace(LONG, quiet_chains=1))
        trial = judge.undrawn(0, LONG.links) or judge.draw(0, LONG.links)
        records = read_records(trusted.channel, trial.layout, LONG.links)
    assert records is not None
    kernels_ns = [record.event_ns for record in records]
    assert min(kernels_ns) > 0
    assert [empty_ns] == [wall_ns - sum(kernels_ns) for wall_ns in walls_ns]
