"""The stages that need a runner: the sample, the check, and the benchmark with its sessions."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from hipcpu.build_folder import REPLAYER
from problems.kit.definition import Case, Problem
from services.executor.core.call.runner_claims import LATE, NO_DEVICE_MEMORY
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.call.trusted_runner import require_memory, require_runner, trusted_runner
from services.executor.core.check.checking import Checker, ProgramOf, check
from services.executor.core.check.mismatches import lanes_advice
from services.executor.core.check.run_verdict import Progress
from services.executor.core.check.sampling import show_sample, smallest
from services.executor.core.compile.build import Built, install
from services.executor.core.compile.code_objects import require_unchanged
from services.executor.core.compile.cpp_tokens import Name, words
from services.executor.core.launching.contract import Contract, contract_of
from services.executor.core.launching.launched_problem import LaunchedProblem
from services.executor.core.launching.program import LaunchProgram, program_bytes
from services.executor.core.launching.recorder import programs_of
from services.executor.core.launching.recording import Explains, NotRecordableError
from services.executor.core.measure.timed_calls import check_repeatedly
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.authors_problem import AuthorsProblem
from services.executor.core.run.benchmarking import Bench, benchmark, profile_of
from services.executor.core.run.context import RunContext
from services.executor.core.run.device_properties import host_memory_doubt, with_properties
from services.executor.core.run.profiling import ProfileStage, Subject
from services.executor.core.sandbox.run_place import RunPlace
from services.executor.core.sandbox.running import unkillable
from services.executor.core.timing.case_timing import PART_OF_A_GPU, launched_by_submission
from services.executor.core.timing.stopping import default_mode, profile_in
from submissions.modes import Mode

_RUNNER = "runner"
"""The name of a build's executable (`hipcpu/build_folder.py`)."""
_CAUSE_SECONDS = 2
"""The time to look for the cause of a bad end: for all calls of a case, without their kernels."""


@dataclass(frozen=True)
class _Launching:
    """The executable of a session: its folder, its digest, and the launch programs if it has only kernels.

    `is_recorded` says that the programs come from recordings of `solution`. If host code of a solution launches its
    kernels, `launched_by_submission` says why.
    """

    folder: Path
    executable_sha256: str
    program_of: ProgramOf | None = None
    is_recorded: bool = False
    launched_by_submission: str = ""


class RunnerStages:
    """Opens the sessions of one run. All its calls have different numbers, and so different inputs."""

    def __init__(self, job: CoreJob, problem: Problem, context: RunContext, place: RunPlace, built: Built) -> None:
        self.seed = RunSeed(job.seed)
        self._job = job
        self._problem = problem
        self._context = context
        self._place = place
        self._built = built
        self._build = built.build
        self._numbers = itertools.count(1)

    async def run(self, progress: Progress) -> None:
        """Run all stages that the job asks for; raises Failure."""
        progress.report["seed_commitment"] = self.seed.commitment
        try:
            if self._job.mode is Mode.SAMPLE:
                return await self._sample(progress)
            await self._check(progress)
            launching = self._by_itself()
            # On `cpu` another compiler beside the timed calls would slow them.
            await self._built.reported()
            if self._job.mode in {Mode.BENCHMARK, Mode.FULL}:
                launching = await self._benchmark(progress)
            if self._job.profile:
                progress.profile = await self._profile_stage(launching, progress).run()
        except Failure as failure:
            if failure.verdict is Verdict.WRONG_ANSWER and failure.reason != LATE:
                lanes = self._context.device.describe().wavefront_size
                failure.message += lanes_advice(self._job.source, lanes)
            raise
        finally:
            progress.report["seed"] = self.seed.reveal()

    async def _sample(self, progress: Progress) -> None:
        case = smallest(self._problem, self._problem.sizes.of(self._job.size_set))
        with progress.stage("check"):
            try:
                async with self._session(progress) as checker:
                    await show_sample(checker, case, progress)
            except Failure as failure:
                failure.message += await self._cause(failure, [case])
                raise

    async def _check(self, progress: Progress) -> None:
        cases = [*self._problem.sizes.of(self._job.size_set), *self._hidden("hidden case")]
        with progress.stage("check"):
            try:
                async with self._session(progress) as checker:
                    await check(checker, cases, progress)
            except Failure as failure:
                passed = sum(result.passed for result in progress.test_results)
                failure.message += await self._cause(failure, cases[passed:])
                raise

    async def _cause(self, failure: Failure, cases: Sequence[Case]) -> str:
        """Tells the author the cause that the recorder finds of a crash, a call without an end, or an unwritten answer.

        Empty if it finds none.
        """
        explained = _explained(failure)
        if not (explained or failure.is_unwritten) or not cases or contract_of(self._job) is not Contract.HOST:
            return ""
        if self._problem.sized_inputs(cases[0], np.random.PCG64(0)) is None:
            return ""  # Its inputs would have to be drawn, which may take long.
        with suppress(Failure):
            self._context = await with_properties(self._context)
            found = await programs_of(
                self._build, self._place.record, self._problem, cases[:1], self._context, _CAUSE_SECONDS
            )
            for one in found:
                if isinstance(one, NotRecordableError) and explained and one.explains == explained:
                    return f" The likely cause: {one}."
                if failure.is_unwritten and isinstance(one, LaunchProgram) and not one.launches:
                    return f" `solution`{_at_line(self._job.source)} launches no kernel."
        return ""

    def _hidden(self, purpose: str) -> list[Case]:
        """A hidden case, if the problem is our own; each purpose has its own."""
        if isinstance(self._problem, AuthorsProblem):
            return []
        return [self._problem.hidden_case(self._job.size_set, self.seed.generator(purpose))]

    async def _benchmark(self, progress: Progress) -> _Launching:
        """Measures calls that our runner launches or, if it cannot, the submission; then the time is UNPROVEN.

        Returns who launched the calls that count.
        """
        hidden = self._hidden("hidden case when ranked")
        with progress.stage("benchmark"):
            cases = self._problem.sizes.of(self._job.size_set)
            self._context = await with_properties(self._context)
            launching = await self._launching([*cases, *hidden], progress)
            if launching.is_recorded:
                async with self._session(progress) as checker:
                    await check_repeatedly(checker, cases)
            try:
                await self._measure(launching, hidden, progress)
            except Failure as failure:
                # The solution was right when it launched its kernels itself, so this failure may be our doing.
                ours = failure.unkillable or failure.verdict in {Verdict.INFRA_ERROR, Verdict.TIMING_INVALID}
                if not launching.is_recorded or ours:
                    raise
                because = launched_by_submission(f"launched by us, its kernels ended otherwise: {failure.message}")
                del progress.report["replayer_sha256"], progress.report["launch_program_sha256"]
                launching = self._by_itself(because)
                await self._measure(launching, hidden, progress)
            return launching

    def _profile_stage(self, launching: _Launching, progress: Progress) -> ProfileStage:
        """Profiles the largest case, launched and with cold caches as when it was timed."""

        def subject_of() -> Subject:
            cases = self._problem.sizes.of(self._job.size_set)
            index = max(range(len(cases)), key=lambda at: self._problem.bytes(cases[at]))
            flush = cast("Mapping[str, Any]", progress.report.get("flush", {}))
            return Subject(launching.folder, cases[index], index, int(flush.get("size_bytes", 0)))

        return ProfileStage(
            self._context, self._place, subject_of, lambda session: self._checker(session, launching), progress
        )

    async def _measure(self, launching: _Launching, hidden: Sequence[Case], progress: Progress) -> None:
        device = self._context.device
        device_profile = self._context.profile or profile_of(device.describe())
        mode = self._job.timing_mode or default_mode(device_profile)
        progress.report["timing_mode"] = mode
        # We launch on streams, not as a graph: with many short kernels, the time may be that of the host.
        progress.report["launched_by"] = "stream" if launching.program_of else "solution"
        bench = Bench(
            self._problem,
            device,
            profile_in(mode, device_profile),
            open_session=lambda: self._session(progress, launching),
            open_trusted=lambda: trusted_runner(self._context, self._context.cache),
            hidden=next(iter(hidden), None),
            mode=mode,
            launched_by_submission=launching.launched_by_submission,
            large=self._context.large_cases,
            machine_doubt=self._machine_doubt(),
        )
        await benchmark(bench, self._problem.sizes.of(self._job.size_set), progress)

    def _machine_doubt(self) -> str:
        """Why no time of this run can be proven; empty if there is no such reason."""
        of_memory = host_memory_doubt(self._context.properties) if self._context.device.describe().is_gpu else ""
        return PART_OF_A_GPU if self._job.has_part_of_gpu else of_memory

    async def _launching(self, cases: Sequence[Case], progress: Progress) -> _Launching:
        """Decides who launches the timed calls: we do, if that works without the host code of a solution."""
        if contract_of(self._job) is not Contract.HOST:
            return self._by_itself()
        found = await programs_of(self._build, self._place.record, self._problem, cases, self._context)
        for case, one in zip(cases, found, strict=True):
            if isinstance(one, NotRecordableError):
                return self._by_itself(launched_by_submission(f"case `{case.name}`: {one}"))
        replayer = self._build.parts[REPLAYER]
        install(replayer, self._place.replay / _RUNNER)
        programs = [program_bytes(one) for one in found if isinstance(one, LaunchProgram)]
        progress.report["replayer_sha256"] = replayer_sha256 = hashlib.sha256(replayer).hexdigest()
        progress.report["launch_program_sha256"] = {
            case.name: hashlib.sha256(program).hexdigest() for case, program in zip(cases, programs, strict=True)
        }
        return _Launching(
            self._place.replay, replayer_sha256, lambda judge, _: programs[judge.case_index], is_recorded=True
        )

    def _by_itself(self, because: str = "") -> _Launching:
        """Uses the build as it is: its host code launches its kernels, or we do by the plan that came with them."""
        problem = self._problem
        program_of = _planned(problem) if isinstance(problem, LaunchedProblem) else None
        return _Launching(self._place.run, self._build.sha256, program_of, launched_by_submission=because)

    @asynccontextmanager
    async def _session(self, progress: Progress, launching: _Launching | None = None) -> AsyncGenerator[Checker]:
        """Opens a fresh runner, by default of the whole submission."""
        place, context = self._place, self._context
        launching = launching or self._by_itself()
        session = RunnerSession(context.device, place.sandbox, context.limits, place.channel())
        try:
            async with session.open(launching.folder):
                yield self._checker(session, launching)
            require_unchanged(launching.folder / _RUNNER, launching.executable_sha256)
        except Failure as failure:
            if session.may_be_the_machines:
                if failure.unkillable:
                    raise unkillable() from failure
                await require_runner(context, context.cache, session.loaded_bytes)
            if failure.reason == NO_DEVICE_MEMORY and context.device.describe().is_gpu:
                await require_memory(context, context.cache)
            raise
        finally:
            progress.leave(session, has_host_code=not launching.is_recorded)

    def _checker(self, session: RunnerSession, launching: _Launching) -> Checker:
        return Checker(
            self._problem, self.seed, session, self._numbers, launching.program_of, self._context.large_cases
        )


def _explained(failure: Failure) -> Explains:
    """The kind of end whose cause a recorder may find; NOTHING for an end that states its own cause."""
    if failure.verdict is Verdict.TIME_LIMIT_EXCEEDED:
        return Explains.TIME_LIMIT
    has_crashed = failure.verdict is Verdict.RUNTIME_ERROR and failure.reason.startswith(("signal:", "gpu_fault"))
    # A call is also refused if it is given the result of a failed allocation.
    was_refused = failure.verdict in {Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.LAUNCH_ERROR}
    return Explains.CRASH if has_crashed or was_refused else Explains.NOTHING


def _at_line(source: str) -> str:
    """The line that defines `solution`, in words; empty if it is not found."""
    found = next((word for word in words(source) if isinstance(word, Name) and word.text == "solution"), None)
    return f" (line {found.line})" if found else ""


def _planned(problem: LaunchedProblem) -> ProgramOf:
    return lambda judge, inputs: program_bytes(problem.program(judge.case, inputs))
