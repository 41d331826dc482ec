"""`check`: one file under the sanitizers, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from problems.kit.definition import Case, Problem
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.findings import Check, Finding
from services.executor.core.model.job import CoreJob
from services.executor.core.model.plain import plain
from services.executor.core.model.report import canonical_json
from services.executor.core.problem_host.as_hip import as_hip
from services.executor.core.problem_host.authors_problem import AuthorsProblem
from services.executor.core.problem_host.resolved_problem import resolved_problem, substitution_note
from services.executor.core.run.context import RunContext
from services.executor.core.sanitize.finding_text import text_of
from services.executor.core.sanitize.sanitizing import CheckRequest, findings_of
from services.executor.devices.sanitizing import Sanitizing

CLEAN, FINDINGS, BAD_USAGE, INFRASTRUCTURE = 0, 1, 2, 3
MOST_SHOWN = 20


async def check(request: CheckRequest, context: RunContext, *, as_json: bool) -> int:
    """Checks and prints; returns the exit status: 0 clean, 1 findings (or no build), 2 bad usage, 3 infrastructure."""
    device = context.device
    if not isinstance(device, Sanitizing):
        sys.stderr.write(f"--device: {device.describe().name} has no sanitizers; cpu has them\n")
        return BAD_USAGE
    screen = sys.stderr if as_json else sys.stdout
    try:
        findings = await findings_of(request, context, device.sanitized(), lambda text: _say(screen, text))
    except Failure as failure:
        return _failed(failure)
    _show(findings, request.source, as_json=as_json)
    return FINDINGS if any(one.is_error for one in findings) else CLEAN


async def check_definition(job: CoreJob, checks: frozenset[Check], context: RunContext, *, as_json: bool) -> int:
    """Checks on cases of the problem definition that the job has; returns the exit status as `check` does."""
    report: dict[str, object] = {}
    try:
        async with resolved_problem(job, None, context, report) as defined:
            if note := substitution_note(report):
                _say(sys.stderr, note)
            source, problem, _ = as_hip(job.source, defined, has_plan=False)
            return await check(CheckRequest(source, problem, _cases(problem, job), checks), context, as_json=as_json)
    except Failure as failure:
        return _failed(failure)


def _cases(problem: Problem | None, job: CoreJob) -> Sequence[Case]:
    if problem is None:
        return ()
    sample = problem.sample_case if isinstance(problem, AuthorsProblem) else None
    return problem.sizes.of(job.size_set) or [one for one in [sample] if one]


def _failed(failure: Failure) -> int:
    _say(sys.stderr, f"{failure.verdict}: {failure.message}\n{failure.details}".rstrip())
    return INFRASTRUCTURE if isinstance(failure, InfrastructureFailure) else FINDINGS


def _say(screen: TextIO, text: str) -> None:
    screen.write(f"{text}\n")
    screen.flush()


def _show(findings: Sequence[Finding], source: str, *, as_json: bool) -> None:
    if as_json:
        fields = {"findings": [{**plain(one), "is_error": one.is_error} for one in findings]}
        _say(sys.stdout, canonical_json(fields))
        return
    lines = source.splitlines()
    for one in findings[:MOST_SHOWN]:
        _say(sys.stdout, "\n".join(text_of(one, lines)))
    if len(findings) > MOST_SHOWN:
        _say(sys.stdout, f"and {len(findings) - MOST_SHOWN} more")
    _say(sys.stdout, _summary(findings))


def _summary(findings: Sequence[Finding]) -> str:
    errors = sum(one.is_error for one in findings)
    advice = len(findings) - errors
    said = f"{errors} finding{'' if errors == 1 else 's'}" if errors else "no findings"
    return f"{said}, {advice} of advice" if advice else said
