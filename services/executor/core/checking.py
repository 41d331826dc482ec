"""The check stage: every public case, and one hidden case near them, must be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.executor.core.case_judge import CaseJudge
from services.executor.core.events import Checked, Checking, TestResult
from services.executor.core.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problems.definition import Case, Problem
    from services.executor.core.progress import Progress
    from services.executor.core.seeds import RunSeed
    from services.executor.core.session import CallTimes, RunnerSession


class Checker:
    """Makes verified calls; numbers them, so that no two calls of a run share their inputs."""

    def __init__(self, problem: Problem, seed: RunSeed, session: RunnerSession) -> None:
        self.problem = problem
        self.seed = seed
        self.session = session
        self._calls = 0

    def judge(self, case: Case, case_index: int) -> CaseJudge:
        """The judge of one case."""
        return CaseJudge(self.problem, case, self.seed, case_index)

    async def call(self, judge: CaseJudge) -> CallTimes:
        """One call with fresh inputs, wholly verified; raises Failure."""
        self._calls += 1
        trial = judge.publish(self.session.channel, self._calls)
        await self.session.load()
        times = await self.session.call(self.problem.time_limit_seconds)
        judge.verify(self.session.channel, trial)
        return times


async def check(checker: Checker, cases: Sequence[Case], progress: Progress) -> None:
    """Check `cases` in order; raises Failure at the first that is wrong."""
    progress.total_tests = len(cases)
    progress.tell(Checking(len(cases), checker.seed.commitment))
    for index, case in enumerate(cases):
        try:
            await checker.call(checker.judge(case, index))
        except Failure:
            progress.test_results.append(TestResult(index + 1, case.name, passed=False, total_tests=len(cases)))
            raise
        result = TestResult(index + 1, case.name, passed=True, total_tests=len(cases))
        progress.test_results.append(result)
        progress.tell(result)
    progress.tell(Checked(tuple(progress.test_results), len(cases), len(cases)))
