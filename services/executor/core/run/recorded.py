"""Builds a solution and records what it would launch, without running a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from problems.kit.definition import Case, Problem
from services.executor.core.compile.forbidden import rules_for
from services.executor.core.compile.source import admit
from services.executor.core.launching.contract import unit_of
from services.executor.core.launching.program import LaunchProgram
from services.executor.core.launching.recorder import programs_of
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.run.context import RunContext
from services.executor.core.sandbox.scratch import ScratchFolder


async def recorded(
    source: str, problem: Problem, cases: Sequence[Case], context: RunContext
) -> list[LaunchProgram | NotRecordableError]:
    """Returns each case's launch program, or the reason for none; raises Failure if the source cannot be built."""
    unit = unit_of(source, problem)
    admit(source, unit.declaration, rules_for(context.forbidden, problem.forbidden))
    with ScratchFolder(context.scratch_parent) as scratch:
        compiled, run = scratch / "compile", scratch / "run"
        for folder in (compiled, run):
            folder.mkdir(mode=0o755)
        build = await context.builder.build(unit, compiled, run)
        return await programs_of(build, scratch / "recorder", problem, cases, context)
