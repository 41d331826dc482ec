"""`record`: shows the device work of a solution on the terminal, case by case, as our runner would launch it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from problems.kit.definition import Case, Problem
from services.executor.core.launching.program import LaunchProgram, described
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.run.context import RunContext
from services.executor.core.run.device_properties import with_properties
from services.executor.core.run.recorded import recorded

RECORDED, NOT_RECORDED, INFRASTRUCTURE = 0, 1, 3


async def record(source: str, problem: Problem, cases: Sequence[Case], context: RunContext) -> int:
    """Records and prints; returns the exit status: 0 all cases, 1 not all (or no build), 3 infrastructure."""
    try:
        found = await recorded(source, problem, cases, await with_properties(context))
    except Failure as failure:
        sys.stderr.write(f"{failure.verdict}: {failure.message}\n{failure.details}".rstrip() + "\n")
        return INFRASTRUCTURE if isinstance(failure, InfrastructureFailure) else NOT_RECORDED
    for case, one in zip(cases, found, strict=True):
        sys.stdout.write("\n".join(_lines(case, one, problem, source)) + "\n")
    return NOT_RECORDED if any(isinstance(one, NotRecordableError) for one in found) else RECORDED


def _lines(case: Case, found: LaunchProgram | NotRecordableError, problem: Problem, source: str) -> Iterator[str]:
    if isinstance(found, NotRecordableError):
        yield f"{case.name}: no launch program"
        yield f"  {found}"
        lines = source.splitlines()
        if 0 < found.line <= len(lines):
            yield f"  {found.line:>5} | {lines[found.line - 1]}"
        return
    yield f"{case.name}: {found.launches} launch{'' if found.launches == 1 else 'es'} a call"
    yield from (f"  {line}" for line in described(found, [parameter.name for parameter in problem.parameters]))
