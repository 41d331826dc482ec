"""Runs one source under a device's sanitizers: a build that checks itself, then each case in its own sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from hipcpu.build_folder import BuildKind
from problems.kit.definition import Case, Problem
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.source import source_fault
from services.executor.core.launching.contract import unit_of
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.findings import Check, Finding, merged, read_findings
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.sandbox.exit_reasons import STOPPED_STATUS, limit_failure, signal_name
from services.executor.core.sandbox.running import run_to_end
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.core.sanitize.sanitize_case import HARNESS, arguments_of, small_cases
from services.executor.devices.sanitizing import Sanitized
from services.executor.sandboxes.sandbox import Exit, Limits, Mount

_WALL_SECONDS = 120
"""The time limit of one case; kernels that check themselves take many times as long."""
_CASE = Path("/case/arguments")
_HIP_ERROR_EXIT, _NO_CASE_EXIT = 87, 88
"""Exit statuses of `sanitize_harness.cpp`."""
_MOST_TEXT = 400


@dataclass(frozen=True)
class CheckRequest:
    """A source to check, the problem that it solves (None: it has a `main`), its cases and the sanitizers to use."""

    source: str
    problem: Problem | None
    cases: Sequence[Case]
    checks: frozenset[Check] = frozenset(Check)
    seed: int = 0
    """The same seed gives the same inputs."""


async def findings_of(
    request: CheckRequest, context: RunContext, device: Sanitized, say: Callable[[str], None]
) -> list[Finding]:
    """The chosen sanitizers' findings, and the ends of programs; raises Failure if nothing could run."""
    unit = _unit(request)
    if fault := source_fault(unit.source, unit.declaration):
        raise Failure(Verdict.COMPILE_ERROR, fault)
    with ScratchFolder(context.scratch_parent) as scratch:
        build = _folder(scratch / "build")
        builder = Builder(device, context.sandbox, context.cache, context.limits.builder)
        await builder.build(unit, _folder(scratch / "compile"), build)
        run = _CheckedRun(request, context, device, unit.kind, build)
        found: list[Finding] = []
        for number, case in enumerate(_cases(request)):
            say(f"checking {case.name if case else 'the program'}")
            found += await run.case(case, _folder(scratch / f"case{number}"))
    return merged(one for one in found if one.check is None or one.check in request.checks)


def _unit(request: CheckRequest) -> Unit:
    unit = unit_of(request.source, request.problem)
    return replace(unit, harness=unit.harness + HARNESS.read_text()) if request.problem else unit


def _cases(request: CheckRequest) -> Sequence[Case | None]:
    return small_cases(request.problem, request.cases) if request.problem else [None]


def _folder(path: Path) -> Path:
    path.mkdir()
    path.chmod(0o755)
    return path


@dataclass(frozen=True)
class _CheckedRun:
    request: CheckRequest
    context: RunContext
    device: Sanitized
    kind: BuildKind
    build: Path

    async def case(self, case: Case | None, folder: Path) -> list[Finding]:
        """Run the finished build on a case, and read its findings."""
        left = _folder(folder / "findings")
        command = self.device.with_findings(self.device.run_command(self.build, self.kind), left)
        if case is not None and self.request.problem is not None:
            inputs = _folder(folder / "case")
            rng = np.random.default_rng(self.request.seed)
            (inputs / _CASE.name).write_bytes(arguments_of(self.request.problem, case, rng))
            # The path is an argument, because a sandbox without its own root sees the file in another place.
            command = replace(
                command,
                arguments=[*command.arguments, str(_CASE)],
                mounts=[*command.mounts, Mount(inputs, _CASE.parent)],
            )
        limits = self._limits()
        end = await run_to_end(self.context.sandbox, command, limits)
        name = case.name if case else ""
        return [*read_findings(self.device.findings_file(left), name), *_ending(end, limits, name)]

    def _limits(self) -> Limits:
        usual = self.context.limits
        limits = usual.runner if self.request.problem else usual.program
        return replace(limits, wall=min(limits.wall, timedelta(seconds=_WALL_SECONDS)))


def _ending(end: Exit, limits: Limits, case: str) -> list[Finding]:
    """A bad end of the program is a finding of its own, beside the earlier ones."""
    if failure := limit_failure(end, limits):
        return [Finding("limit", case, message=failure.message)]
    if end.signal is not None:
        return [Finding("crash", case, message=f"the program ended with {signal_name(end.signal)}")]
    if end.code == _NO_CASE_EXIT:
        raise InfrastructureFailure("The case could not be given to the program; run again elsewhere.")
    if end.code == _HIP_ERROR_EXIT:
        return [Finding("hip-error", case, message=_last_line(end))]
    if end.code not in {0, STOPPED_STATUS}:
        return [Finding("exit", case, message=f"the program ended with exit status {end.code}")]
    return []


def _last_line(end: Exit) -> str:
    lines = end.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:_MOST_TEXT] if lines else "a HIP call failed"
