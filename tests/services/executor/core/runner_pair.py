"""A submission's runner and one of our own, both started and ready for the judge's orders."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from hipcpu.build_folder import BuildKind
from problems.kit.definition import Problem
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.check.checking import Checker
from services.executor.core.compile.build import Unit
from services.executor.core.compile.harness import expected_declaration, harness_source
from services.executor.core.model.seeds import RunSeed
from services.executor.core.run.context import RunContext
from services.executor.core.sandbox.run_place import open_place
from submissions.modes import Mode


@asynccontextmanager
async def runner_pair(
    context: RunContext, problem: Problem, source: str
) -> AsyncGenerator[tuple[Checker, RunnerSession]]:
    parameters = problem.parameters
    unit = Unit(BuildKind.SOLUTION, source, harness_source(parameters), expected_declaration(parameters))
    async with open_place(context, {Mode.CHECK}) as place, trusted_runner(context, context.cache) as trusted:
        await context.builder.build(unit, place.compile, place.run)
        session = RunnerSession(context.device, place.sandbox, context.limits, place.channel())
        async with session.open(place.run):
            yield Checker(problem, RunSeed(), session, large=context.large_cases), trusted
