"""`lint`: proves problems with real kernels. The honest solution must be accepted, and every lazy one found out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from problems.catalogue import CatalogueError
from services.executor.core.bench import BAD_USAGE
from services.executor.core.build import Builder, Unit
from services.executor.core.case_judge import CaseJudge
from services.executor.core.equipment import catalogue
from services.executor.core.failure import Failure
from services.executor.core.harness import expected_declaration, harness_source
from services.executor.core.job import CoreJob, Mode
from services.executor.core.lazy_kernels import Lazy, LazyCall, lazy_calls, lazy_source
from services.executor.core.run import run
from services.executor.core.scratch import ScratchFolder, memory_parent
from services.executor.core.seeds import RunSeed
from services.executor.core.session import RunnerSession
from services.executor.core.verdict import Verdict
from services.executor.devices.device import BuildKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problems.definition import CatalogueEntry, Problem
    from services.executor.core.events import Event
    from services.executor.core.run import Equipment


async def lint(slugs: Sequence[str], equipment: Equipment) -> int:
    """Lint the problems named, or all; answers the exit status."""
    try:
        entries = [catalogue().get(slug) for slug in slugs] or catalogue().entries()
    except CatalogueError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_USAGE
    bad = 0
    for entry in entries:
        faults = await faults_of(entry, equipment)
        bad += bool(faults)
        sys.stdout.write("\n  ".join([f"{entry.problem.slug}: {'FAULTY' if faults else 'ok'}", *faults]) + "\n")
    return 1 if bad else 0


async def faults_of(entry: CatalogueEntry, equipment: Equipment) -> list[str]:
    """What is wrong with a problem, one sentence each."""
    job = CoreJob(entry.solution, Mode.CHECK, entry.problem.slug)
    finished = await run(job, equipment, _ignore)
    if finished.verdict is not Verdict.ACCEPTED:
        return [f"the honest solution ends with {finished.verdict}: {finished.message}", finished.details]
    passed = await lazy_passes(entry.problem, entry.solution, equipment)
    return [f"the lazy kernel {lazy.name} passes every case" for lazy in passed]


async def lazy_passes(problem: Problem, honest: str, equipment: Equipment) -> list[Lazy]:
    """The lazy kernels that no case finds out; raises Failure when they cannot be run."""
    seed = RunSeed()
    calls = lazy_calls(problem, problem.sizes.cpu)
    parameters = problem.parameters
    unit = Unit(
        BuildKind.SOLUTION,
        lazy_source(problem, honest, calls),
        harness_source(parameters),
        expected_declaration(parameters),
    )
    with ScratchFolder(equipment.scratch_parent) as scratch:
        for name in ("compile", "run"):
            (scratch / name).mkdir(mode=0o755)
        builder = Builder(equipment.device, equipment.sandbox, equipment.cache, equipment.limits.builder)
        await builder.build(unit, scratch / "compile", scratch / "run", _ignore)
        with ScratchFolder(memory_parent(scratch)) as folder:
            session = RunnerSession(equipment.device, equipment.sandbox, equipment.limits, folder)
            async with session.open(scratch / "run"):
                found_out = {call.lazy for call in calls if await _is_found_out(problem, call, session, seed)}
    return sorted({call.lazy for call in calls} - found_out - {Lazy.PREPARE})


async def _is_found_out(problem: Problem, call: LazyCall, session: RunnerSession, seed: RunSeed) -> bool:
    judge = CaseJudge(problem, call.case, seed, call.case_index)
    trial = judge.publish(session.channel, session.calls)
    await session.load()
    await session.call(problem.time_limit_seconds)
    try:
        judge.verify(session.channel, trial)
    except Failure:
        if call.lazy is Lazy.PREPARE:
            raise
        return True
    return False


def _ignore(event: Event) -> None:
    del event
