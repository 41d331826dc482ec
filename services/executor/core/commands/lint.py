"""`lint`: proves problems with real kernels. The honest solution must be accepted, and every lazy kernel must fail."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
from numpy.typing import NDArray

from hipcpu.build_folder import BuildKind
from problems.kit.definition import CatalogueEntry, Problem, SizeSet
from problems.library.catalogue import CatalogueError
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.commands.bench import BAD_USAGE
from services.executor.core.commands.lazy_kernels import Lazy, LazyCall, lazy_calls, lazy_source
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.forbidden import rules_for
from services.executor.core.compile.harness import expected_declaration, harness_source
from services.executor.core.compile.source import admit
from services.executor.core.model.failure import Failure
from services.executor.core.model.seeds import RunSeed
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import catalogue
from services.executor.core.sandbox.channel import Channel
from services.executor.core.sandbox.scratch import ScratchFolder, memory_parent
from vocabulary.limits import DEFAULT_DTYPE


async def lint(slugs: Sequence[str], context: RunContext) -> int:
    """Lints the named problems, or all, as many at a time as there are processors; returns the exit status."""
    try:
        entries = [catalogue().get(slug) for slug in slugs] or catalogue().entries()
    except CatalogueError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_USAGE
    turns = asyncio.Semaphore(os.cpu_count() or 1)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_in_turn(entry, context, turns)) for entry in entries]
        for number, (entry, task) in enumerate(zip(entries, tasks, strict=True), start=1):
            sys.stderr.write(f"proving {entry.problem.slug} with kernels ({number} of {len(entries)})\n")
            faults = await task
            sys.stdout.write("\n  ".join([f"{entry.problem.slug}: {'FAULTY' if faults else 'ok'}", *faults]) + "\n")
            sys.stdout.flush()
    return 1 if any(task.result() for task in tasks) else 0


async def _in_turn(entry: CatalogueEntry, context: RunContext, turns: asyncio.Semaphore) -> list[str]:
    async with turns:
        return await faults_of(entry, context)


async def faults_of(entry: CatalogueEntry, context: RunContext, dtypes: Sequence[str] = ()) -> list[str]:
    """Returns the faults of a problem, one sentence each, in `dtypes` (the default first) or in all of its types."""
    try:
        passed = await lazy_passes(entry, context, dtypes)
    except Failure as failure:
        return [f"the honest solution ends with {failure.verdict}: {failure.message}", failure.details]
    return [f"the lazy kernel {lazy} passes every case" for lazy in passed]


async def lazy_passes(entry: CatalogueEntry, context: RunContext, dtypes: Sequence[str] = ()) -> list[str]:
    """Returns the lazy kernels that pass every case; raises Failure if the honest solution is not accepted."""
    problem, seed = entry.problem, RunSeed()
    honest = {dtype: entry.solution_in(dtype) for dtype in dtypes or problem.dtypes}
    calls = lazy_calls(problem, tuple(honest), problem.hidden_case(SizeSet.CPU, seed.generator("hidden case")))
    with ScratchFolder(context.scratch_parent) as scratch:
        for name in ("compile", "run"):
            (scratch / name).mkdir(mode=0o755)
        builder = Builder(context.device, context.sandbox, context.cache, context.limits.builder)
        await builder.build(_unit(problem, honest, calls, context), scratch / "compile", scratch / "run")
        with ScratchFolder(memory_parent(scratch)) as folder:
            session = RunnerSession(context.device, context.sandbox, context.limits, Channel(folder))
            async with session.open(scratch / "run"):
                found_out = {_label(call) for call in calls if await _is_found_out(call, session, seed)}
    tried = dict.fromkeys(_label(call) for call in calls if call.lazy is not Lazy.PREPARE)
    return [label for label in tried if label not in found_out]


def _unit(problem: Problem, honest: Mapping[str, str], calls: Sequence[LazyCall], context: RunContext) -> Unit:
    """Puts all solutions into one unit; raises Failure if one of them could not be a submission."""
    declaration = expected_declaration(problem.parameters)
    for source in honest.values():
        admit(source, declaration, rules_for(context.forbidden, problem.forbidden))
    source = lazy_source(problem, honest, calls)
    return Unit(BuildKind.SOLUTION, source, harness_source(problem.parameters), declaration)


def _label(call: LazyCall) -> str:
    return call.lazy.name if call.problem.dtype == DEFAULT_DTYPE else f"{call.lazy.name} in {call.problem.dtype}"


async def _is_found_out(call: LazyCall, session: RunnerSession, seed: RunSeed) -> bool:
    judge = CaseJudge(call.problem, call.case, seed, call.case_index)
    trial = judge.publish(session.channel, session.calls)
    await session.load()
    await session.call(call.problem.time_limit_seconds)
    try:
        judge.verify(session.channel, trial)
    except Failure:
        if call.lazy is Lazy.PREPARE:
            raise
        return True
    return call.lazy is Lazy.LOW_PRECISION and _needs_few_bits(judge.expected(trial))


def _needs_few_bits(expected: Mapping[str, NDArray[Any]]) -> bool:
    """True if lower precision cannot be told from the problem's own, as for an image of black and white."""
    return all((values == values.astype(ml_dtypes.bfloat16).astype(values.dtype)).all() for values in expected.values())
