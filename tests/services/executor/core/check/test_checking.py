from __future__ import annotations

from pathlib import Path

from problems.kit.definition import SizeSet
from problems.library.catalogue import load_problem
from services.executor.core.model.job import CoreJob
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode
from tests.services.executor.core.conftest import SUBMISSIONS
from tests.services.executor.core.runner_pair import runner_pair

PROBLEMS = Path(__file__).parents[5] / "problems" / "catalogue"


async def test_reading_what_nobody_wrote_is_nondeterministic(context: RunContext) -> None:
    source = (SUBMISSIONS / "reads_unwritten.hip").read_text()
    finished = await run(CoreJob(source, Mode.CHECK, "vector-addition"), context, lambda _: None)
    assert finished.verdict is Verdict.NONDETERMINISTIC, finished
    assert "elements of `d_output` differ, the first at (" in finished.message
    assert "read before it is written" in finished.message
    assert [result.passed for result in finished.test_results] == [False] * finished.total_tests
    assert [result.test_id for result in finished.test_results] == list(range(1, finished.total_tests + 1))


async def test_a_problem_may_allow_two_calls_to_differ(context: RunContext) -> None:
    problem = load_problem(PROBLEMS / "vector-addition").problem
    lenient = type("Lenient", (type(problem),), {"nondeterministic": True})()
    source = (SUBMISSIONS / "reads_unwritten.hip").read_text()
    async with runner_pair(context, lenient, source) as (checker, _):
        await checker.call_twice(checker.judge(problem.sizes.cpu[0], 0))


async def test_the_second_call_has_the_same_inputs_at_other_places_with_other_poison(context: RunContext) -> None:
    problem = load_problem(PROBLEMS / "vector-addition").problem
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    async with runner_pair(context, problem, source) as (checker, _):
        judge = checker.judge(problem.sizes.cpu[3], 3)
        first = judge.draw(checker.next_call())
        others = [judge.again(first, checker.next_call()) for _ in range(20)]
    assert all(other.inputs is first.inputs for other in others)
    assert len({other.poison for other in [first, *others]}) == 21
    assert len({other.layout.shift_bytes for other in [first, *others]}) > 5
    assert all(other.layout.shift_bytes % 256 == 0 for other in others)


async def test_a_second_hidden_case_is_called_while_the_public_ones_are_measured(context: RunContext) -> None:
    problem = load_problem(PROBLEMS / "vector-addition").problem
    for seed in map(str, range(100)):
        generators = [RunSeed(seed).generator(purpose) for purpose in ("hidden case", "hidden case when ranked")]
        checked, ranked = (problem.hidden_case(SizeSet.CPU, generator) for generator in generators)
        if checked.values["n"] != ranked.values["n"]:
            break
    source = (SUBMISSIONS / "wrong_off_list.hip").read_text().replace("FORGOTTEN", str(ranked.values["n"]))
    finished = await run(CoreJob(source, Mode.BENCHMARK, "vector-addition", seed=seed), context, lambda _: None)
    assert finished.passed_tests == finished.total_tests
    assert finished.verdict is Verdict.WRONG_ANSWER, finished
    assert ranked.name in finished.message
