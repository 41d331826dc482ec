"""The check stage: every public case, and one hidden case near them, must be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from problems.kit.definition import Case, Problem
from problems.kit.threads import threads_allowed
from services.executor.core.call.commitment import Question
from services.executor.core.call.runner_claims import NEVER_ENDING
from services.executor.core.call.runner_session import CallTimes, RunnerSession
from services.executor.core.check.case_judge import USUAL_RULE, CaseJudge, LargeCaseRule, Trial
from services.executor.core.check.run_verdict import Progress
from services.executor.core.check.side_by_side import at_once
from services.executor.core.model.events import Checked, Checking, TestResult
from services.executor.core.model.failure import Failure, in_case
from services.executor.core.model.seeds import RunSeed
from services.executor.core.problem_host.authors_problem import AuthorsProblem

ProgramOf: TypeAlias = "Callable[[CaseJudge, Mapping[str, Any]], bytes]"
"""Returns the launch program of a call with these inputs; raises Failure."""


class Checker:
    """Makes verified calls and numbers them, so that no two calls of a run share their inputs."""

    def __init__(
        self,
        problem: Problem,
        seed: RunSeed,
        session: RunnerSession,
        numbers: Iterator[int] | None = None,
        program_of: ProgramOf | None = None,
        large: LargeCaseRule = USUAL_RULE,
    ) -> None:
        """Takes the numbers of calls from `numbers`, which the sessions of a run share.

        `program_of` is for a runner that has the submission's kernels alone.
        """
        self.problem = problem
        self.seed = seed
        self.session = session
        self._numbers = numbers or count(1)
        self._program_of = program_of
        self._large = large
        self._performed = b""

    def judge(self, case: Case, case_index: int) -> CaseJudge:
        """Returns the judge of one case."""
        return CaseJudge(self.problem, case, self.seed, case_index, self._large)

    @property
    def launches(self) -> bool:
        """True if a runner of ours launches the kernels, without host code of the submission in its process."""
        return self._program_of is not None

    def next_call(self) -> int:
        """Returns a number that no other call of the run has."""
        return next(self._numbers)

    async def call(self, judge: CaseJudge, flush_bytes: int = 0) -> CallTimes:
        """Makes one call with fresh inputs and compares its answer, a large one in part; raises Failure.

        With `flush_bytes` the device's caches are cold: that much memory is swept through them after the inputs came.
        """
        return await self.call_loaded(judge, await self.load_undrawn(judge), flush_bytes)

    async def load_undrawn(self, judge: CaseJudge) -> Trial | None:
        """Loads a large case, for the device to draw its calls; None if the host draws them. Raises Failure."""
        trial = judge.undrawn(self.next_call()) if self.launches else None
        if trial:
            await self.load(judge, trial)
        return trial

    async def call_loaded(self, judge: CaseJudge, loaded: Trial | None, flush_bytes: int = 0) -> CallTimes:
        """Makes one call as `call` does, with the result of `load_undrawn` for the case; raises Failure."""
        call = self.next_call()
        if loaded is None:
            trial = judge.draw(call)
            times = await self.make(judge, trial, flush_bytes)
            judge.verify(self.session.channel, trial)
            return times
        question, needed = self.question(judge, loaded, call), judge.needed(loaded, call)
        times = await self.make_redrawn(judge, question, call, flush_bytes, store=not needed)
        if needed:
            await self.session.store(needed)
        with threads_allowed(at_once(0)):
            judge.verify(self.session.channel, judge.remade(loaded, question.key, call), needed)
        return times

    def question(self, judge: CaseJudge, loaded: Trial, call: int) -> Question:
        """Returns the key that a device draws a call's inputs from, and the question about its outputs."""
        key = int.from_bytes(self.seed.generator("redrawn", judge.case_index, call).bytes(8))
        return Question(key, call, judge.excerpt(loaded, call) if self.problem.nondeterministic else None)

    async def call_twice(self, judge: CaseJudge) -> None:
        """Makes two calls with the same inputs, whose answers must both be right and the same; raises Failure.

        The second call has other addresses, poison and guards, so it also exposes a read of memory that nobody wrote. A
        nondeterministic problem gets one call only.
        """
        trial = judge.draw(self.next_call())
        await self.make(judge, trial)
        outputs = judge.collect(self.session.channel, trial)
        if failure := judge.fault(trial, outputs):
            raise failure
        if self.problem.nondeterministic:
            return
        first = {name: output.copy() for name, output in outputs.items()}
        again = judge.again(trial, self.next_call())
        await self.make(judge, again)
        second = judge.collect(self.session.channel, again)
        if difference := judge.differs(first, second):
            raise judge.fault(again, second) or difference

    async def choose_program(self, judge: CaseJudge, trial: Trial) -> None:
        """Makes the runner perform the launch program of `trial` from now on, if it performs any; raises Failure."""
        program = self._program_of(judge, trial.inputs) if self._program_of else b""
        if program != self._performed:
            with in_case(judge.case.name):
                await self.session.take_program(program)
            self._performed = program

    async def load(self, judge: CaseJudge, trial: Trial) -> None:
        """Bring a trial to the device; raises Failure."""
        await self.choose_program(judge, trial)
        judge.write(self.session.channel, trial)
        with in_case(judge.case.name):
            await self.session.load()

    async def make(self, judge: CaseJudge, trial: Trial, flush_bytes: int = 0) -> CallTimes:
        """Makes one call of `trial`, whose outputs nobody has looked at yet; raises Failure."""
        await self.load(judge, trial)
        with in_case(judge.case.name):
            return await self._ordered(judge, flush_bytes)

    async def make_redrawn(
        self, judge: CaseJudge, question: Question, call: int, flush_bytes: int = 0, *, store: bool = False
    ) -> CallTimes:
        """Makes one call of the loaded trial with inputs that the device draws; raises Failure.

        Without `store` the outputs stay on the device. The runner commits itself to them. They begin with poison of
        this call's own, whatever the key: an element that is never written is another answer when the key comes again.
        """
        poison = self.seed.generator("poison of redrawn calls", judge.case_index, call)
        with in_case(judge.case.name):
            await self.session.redraw(question.key, int.from_bytes(poison.bytes(8)))
            return await self._ordered(judge, flush_bytes, store=store, question=question)

    async def _ordered(
        self, judge: CaseJudge, flush_bytes: int, *, store: bool = True, question: Question | None = None
    ) -> CallTimes:
        if flush_bytes:
            await self.session.flush(flush_bytes)
        advice = self.problem.advice_when_slow(judge.case) if isinstance(self.problem, AuthorsProblem) else NEVER_ENDING
        limit_seconds = self.problem.time_limit_seconds
        return await self.session.call(limit_seconds, advice, store=store, question=question)


async def check(checker: Checker, cases: Sequence[Case], progress: Progress) -> None:
    """Checks `cases` in order; raises Failure at the first that is wrong, and those after it are not run."""
    progress.total_tests = len(cases)
    progress.tell(Checking(len(cases), checker.seed.commitment))
    for index, case in enumerate(cases):
        try:
            # There is one case at a time, so it may have all threads.
            with threads_allowed(at_once(0)):
                await checker.call_twice(checker.judge(case, index))
        except Failure:
            progress.test_results += [
                TestResult(at + 1, rest.name, passed=False, total_tests=len(cases), not_run=at > index)
                for at, rest in enumerate(cases[index:], start=index)
            ]
            raise
        result = TestResult(index + 1, case.name, passed=True, total_tests=len(cases))
        progress.test_results.append(result)
        progress.tell(result)
    progress.tell(Checked(tuple(progress.test_results), len(cases), len(cases)))
