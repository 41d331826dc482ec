"""`isa`: shows on the terminal how the MI300X's compiler translates one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from problems.kit.definition import Problem
from services.executor.core.compile.forbidden import rules_for
from services.executor.core.compile.isa import IsaReporter
from services.executor.core.compile.source import admit
from services.executor.core.launching.contract import unit_of
from services.executor.core.model.failure import Failure
from services.executor.core.model.isa_report import IsaReport, KernelHint, KernelReport
from services.executor.core.model.plain import plain
from services.executor.core.model.report import canonical_json
from services.executor.core.run.context import RunContext
from services.executor.core.sandbox.scratch import ScratchFolder

REPORTED, NOT_REPORTED = 0, 1
_COLUMNS = ("vgpr", "sgpr", "agpr", "lds_bytes", "scratch_bytes", "spills", "mfma", "instructions", "occupancy")


async def isa(source: str, problem: Problem | None, context: RunContext, *, as_json: bool, assembly: bool) -> int:
    """Reports on `source` and returns the exit status, which is 1 if there is nothing to show.

    With a problem, it refuses the sources that a run would refuse before it compiles them, in the same words.
    """
    if problem is not None and (failure := _refusal(source, problem, context)):
        sys.stderr.write(f"{failure.verdict}: {failure.message}\n")
        return NOT_REPORTED
    if context.inspector is None:
        sys.stderr.write("no compiler for the MI300X is set up\n")
        return NOT_REPORTED
    reporter = IsaReporter(context.inspector, context.sandbox, context.cache)
    with ScratchFolder(context.scratch_parent) as scratch:
        inspection = await reporter.inspect(source, scratch / "isa")
    if as_json:
        fields = {**plain(inspection.report), **({"listing": inspection.listing} if assembly else {})}
        sys.stdout.write(f"{canonical_json(fields)}\n")
    else:
        sys.stdout.write("\n".join(_lines(inspection.report)) + "\n")
        sys.stdout.write(f"\n{inspection.listing}" if assembly else "")
    return REPORTED if inspection.report.kernels else NOT_REPORTED


def _refusal(source: str, problem: Problem, context: RunContext) -> Failure | None:
    try:
        admit(source, unit_of(source, problem).declaration, rules_for(context.forbidden, problem.forbidden))
    except Failure as failure:
        return failure
    return None


def _lines(report: IsaReport) -> Iterator[str]:
    if report.toolchain:
        yield report.toolchain
    if report.note:
        yield report.note
    yield from kernel_table(report.kernels)


def kernel_table(kernels: Mapping[str, KernelReport]) -> Iterator[str]:
    """Yields a row for each kernel, and its hints below it."""
    if kernels:
        yield f"{'kernel':<32} " + " ".join(f"{column:>13}" for column in _COLUMNS)
    for name, kernel in kernels.items():
        limit = "" if kernel.limited_by == "wavefronts" else f" (limited by {kernel.limited_by})"
        yield f"{name:<32} " + " ".join(f"{getattr(kernel, column):>13}" for column in _COLUMNS) + limit
        yield from map(hint_text, kernel.hints)


def hint_text(hint: KernelHint) -> str:
    """Returns the hint, its reason and the advice, on three lines."""
    place = f"line {hint.line}: " if hint.line else ""
    return f"  {place}{hint.what}\n    why: {hint.why}\n    do:  {hint.advice}"
