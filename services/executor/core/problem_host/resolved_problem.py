"""The problem that a submission is judged by: from the catalogue or by its author, with or without a launch plan."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, cast

from problems.kit.definition import Problem, SizeSet
from problems.library.catalogue import CatalogueError
from problems.library.variants import UnknownElementTypeError, variant_of
from services.executor.core.compile.declared_parameters import signature_hint
from services.executor.core.launching.launched_problem import launched
from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.limits import StageLimits
from services.executor.core.problem_host.authors_problem import AuthorsProblem, authors_problem
from services.executor.core.problem_host.catalogue_cases import with_catalogue_cases
from services.executor.core.problem_host.description import CaseLimits
from services.executor.core.problem_host.host import HostLimits, MissingPackageError, open_host
from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python
from services.executor.core.sandbox.run_place import PlaceContext
from services.executor.core.sandbox.scratch import ScratchFolder, memory_parent
from submissions.modes import TIMED_MODES, Mode

_LARGEST_CASES = {
    SizeSet.CPU: CaseLimits(80 << 20, 5e8, seconds=5.0),
    SizeSet.GPU: CaseLimits(8 << 30, float("inf"), seconds=30.0),
}
"""The largest author's cases that a device can be expected to run in seconds."""
_CASE_SHARE = 1 / 4
"""The share of an answer's time for a case: seconds of a processor can take three times as long on the clock."""


MISSING_TORCH = "missing_torch"
"""The reason of an infrastructure failure, as another machine may have torch."""


class DefinitionContext(PlaceContext, Protocol):
    """The part of a RunContext that is needed to evaluate definitions."""

    @property
    def find_problem(self) -> Callable[[str], Problem]:
        """Finds a problem of the catalogue by its name."""
        ...

    @property
    def torch_python(self) -> Path | None:
        """The Python that has torch; None for the default one."""
        ...


@asynccontextmanager
async def resolved_problem(
    job: CoreJob, catalogues: Problem | None, context: DefinitionContext, report: MutableMapping[str, object]
) -> AsyncGenerator[Problem | None]:
    """The problem of `job`, None for a whole program; raises Failure if a definition or a plan does not fit."""
    device = context.device.describe()
    async with _authored(job, catalogues, context, report) as problem:
        yield launched(problem, job.launch_plan, device) if problem is not None and job.launch_plan else problem


def substitution_note(report: Mapping[str, object]) -> str:
    """Tells the author that the definition was not used; empty if it was, or if none was sent."""
    unused = cast("Mapping[str, object] | None", report.get("problem_definition_unused"))
    if not unused:
        return ""
    return (
        f"The problem definition that was sent is not used, as this machine has no {unused['missing']}: the "
        f"catalogue's `{report['problem']}` is used in its place."
    )


@asynccontextmanager
async def _authored(
    job: CoreJob, catalogues: Problem | None, context: DefinitionContext, report: MutableMapping[str, object]
) -> AsyncGenerator[Problem | None]:
    if not job.problem_definition:
        yield catalogues
        return
    try:
        python = torch_python(context.torch_python)
    except TorchMissingError as error:
        yield _substitute(job, context, report, "torch", error)
        return
    limits = _case_limits(_LARGEST_CASES[job.size_set], context.limits)
    with ScratchFolder(memory_parent(context.scratch_parent)) as folder:
        async with open_host(context.sandbox, python, job.problem_definition, _limits(context.limits), folder) as host:
            try:
                problem = authors_problem(
                    host,
                    job.dtype,
                    limits,
                    sample_only=job.mode is Mode.SAMPLE,
                    is_timed=job.mode in TIMED_MODES,
                )
                own_cases = 0 if problem.sample_case else len(problem.sizes.of(job.size_set))
                if not own_cases and job.mode is not Mode.SAMPLE:
                    problem = _with_catalogue_cases(problem, job, context)
            except MissingPackageError as error:
                problem, missing = None, error
            else:
                report["problem_definition"] = {
                    "sha256": _sha256(job.problem_definition),
                    "torch": python.version,
                    "cases_left_out": [asdict(one) for one in problem.left_out],
                    "cases_made_smaller": [asdict(one) for one in problem.shrunk],
                    "catalogue_cases": 0 if own_cases else len(problem.sizes.of(job.size_set)) - 1,
                    "is_sample": problem.sample_case is not None,
                }
                yield problem
                return
    yield _substitute(job, context, report, missing.package, missing)


def _with_catalogue_cases(problem: AuthorsProblem, job: CoreJob, context: DefinitionContext) -> AuthorsProblem:
    """The problem with cases of the catalogue's problem of that name, if they are for the same problem."""
    try:
        catalogue = variant_of(context.find_problem(job.problem), job.dtype)
    except (CatalogueError, UnknownElementTypeError):
        return problem
    return with_catalogue_cases(problem, catalogue, job.size_set) or problem


def _substitute(
    job: CoreJob, context: DefinitionContext, report: MutableMapping[str, object], missing: str, error: Exception
) -> Problem:
    """The catalogue's problem of that name; raises InfrastructureFailure if the source may be for another.

    The definition may use the name for another problem. Then the parameters of `solution`, or the launch plan, differ,
    and a verdict would blame the author for something that the machine lacks. Raises `error` itself if no machine can
    have the package.
    """
    try:
        problem = variant_of(context.find_problem(job.problem), job.dtype)
        why = signature_hint(job.source, problem.parameters)
        if job.launch_plan:
            launched(problem, job.launch_plan, context.device.describe())
    except (CatalogueError, UnknownElementTypeError, Failure) as problems:
        why = str(problems)
    else:
        if not why:
            report["problem"] = problem.slug
            report["problem_definition_unused"] = {"sha256": _sha256(job.problem_definition), "missing": missing}
            return problem
    if isinstance(error, MissingPackageError) and not error.can_be_had:
        raise error
    message = (
        f"This machine has no {missing}, which the problem definition needs, and the catalogue's problem cannot be "
        f"used in place of the one that was sent: {why}"
    )
    raise InfrastructureFailure(message, reason=MISSING_TORCH, details=str(error)) from error


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _case_limits(largest: CaseLimits, limits: StageLimits) -> CaseLimits:
    """The limits of the device's cases, and of one answer of the host."""
    return CaseLimits(
        min(largest.input_bytes, limits.definition_array_mib << 20),
        largest.operations,
        min(largest.seconds, limits.definition_seconds * _CASE_SHARE),
        limits.definition_looking_seconds,
    )


def _limits(limits: StageLimits) -> HostLimits:
    array_bytes = limits.definition_array_mib << 20
    return HostLimits(limits.definition, limits.definition_start_seconds, limits.definition_seconds, array_bytes)
