"""The stages that need a runner: the sample, the check, and the benchmark with its sessions."""

from __future__ import annotations

import itertools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from services.executor.core.benchmarking import Bench, benchmark, profile_of
from services.executor.core.case_timing import LAUNCHED_BY_SUBMISSION
from services.executor.core.checking import Checker, check
from services.executor.core.code_objects import require_unchanged
from services.executor.core.contract import Contract, contract_of
from services.executor.core.failure import Failure
from services.executor.core.job import Mode
from services.executor.core.problem_host.authors_problem import AuthorsProblem
from services.executor.core.sampling import show_sample, smallest
from services.executor.core.seeds import RunSeed
from services.executor.core.session import RunnerSession
from services.executor.core.timing_mode import default_mode, profile_in
from services.executor.core.trusted_runner import require_runner, trusted_runner

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from problems.definition import Case, Problem
    from services.executor.core.equipment import Equipment
    from services.executor.core.job import CoreJob
    from services.executor.core.progress import Progress
    from services.executor.core.run_place import RunPlace

_RUNNER = "runner"
"""What a build's executable is called; device.py."""


class Judging:
    """Opens the sessions of one run, whose calls all have numbers, and so inputs, of their own."""

    def __init__(
        self, job: CoreJob, problem: Problem, equipment: Equipment, place: RunPlace, executable_sha256: str
    ) -> None:
        self.seed = RunSeed(job.seed)
        self._job = job
        self._problem = problem
        self._equipment = equipment
        self._place = place
        self._executable_sha256 = executable_sha256
        self._numbers = itertools.count(1)

    async def judge(self, progress: Progress) -> None:
        """All stages that the job asks for; raises Failure."""
        progress.report["seed_commitment"] = self.seed.commitment
        try:
            if self._job.mode is Mode.SAMPLE:
                return await self._sample(progress)
            await self._check(progress)
            if self._job.mode in {Mode.BENCHMARK, Mode.FULL}:
                await self._benchmark(progress)
        finally:
            progress.report["seed"] = self.seed.reveal()

    async def _sample(self, progress: Progress) -> None:
        with progress.stage("check"):
            async with self._session(progress) as checker:
                cases = self._problem.sizes.of(self._job.size_set)
                await show_sample(checker, smallest(self._problem, cases), progress)

    async def _check(self, progress: Progress) -> None:
        with progress.stage("check"):
            async with self._session(progress) as checker:
                await check(
                    checker, [*self._problem.sizes.of(self._job.size_set), *self._hidden("hidden case")], progress
                )

    def _hidden(self, purpose: str) -> list[Case]:
        """A case of our own, where the problem is ours too; one for each purpose."""
        if isinstance(self._problem, AuthorsProblem):
            return []
        return [self._problem.hidden_case(self._job.size_set, self.seed.generator(purpose))]

    async def _benchmark(self, progress: Progress) -> None:
        device = self._equipment.device
        device_profile = self._equipment.profile or profile_of(device.describe())
        mode = self._job.timing_mode or default_mode(device_profile)
        progress.report["timing_mode"] = mode
        bench = Bench(
            self._problem,
            device,
            profile_in(mode, device_profile),
            open_session=lambda: self._session(progress),
            open_trusted=lambda: trusted_runner(self._equipment, self._equipment.cache),
            hidden=next(iter(self._hidden("hidden case when ranked")), None),
            mode=mode,
            launched_by_submission=LAUNCHED_BY_SUBMISSION if contract_of(self._job) is Contract.HOST else "",
        )
        with progress.stage("benchmark"):
            await benchmark(bench, self._problem.sizes.of(self._job.size_set), progress)

    @asynccontextmanager
    async def _session(self, progress: Progress) -> AsyncGenerator[Checker]:
        """A fresh runner."""
        place, equipment = self._place, self._equipment
        session = RunnerSession(equipment.device, place.sandbox, equipment.limits, place.channel())
        try:
            async with session.open(place.run):
                yield Checker(self._problem, self.seed, session, self._numbers)
            require_unchanged(place.run / _RUNNER, self._executable_sha256)
        except Failure:
            if not session.came_up or session.gave_up:
                await require_runner(equipment, equipment.cache)
            raise
        finally:
            progress.leave(session)
