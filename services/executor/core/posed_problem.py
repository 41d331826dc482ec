"""The problem that a submission is judged by: the catalogue's or the author's own, with a launch plan or without."""

from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from problems.catalogue import CatalogueError
from problems.definition import SizeSet
from problems.variants import UnknownElementTypeError, variant_of
from services.executor.core.declared_parameters import signature_hint
from services.executor.core.failure import Failure, InfrastructureFailure
from services.executor.core.launched_problem import launched
from services.executor.core.problem_host.authors_problem import authors_problem
from services.executor.core.problem_host.description import CaseSize
from services.executor.core.problem_host.host import HostLimits, open_host
from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python
from services.executor.core.run_place import Provisions
from services.executor.core.scratch import ScratchFolder, memory_parent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, MutableMapping
    from pathlib import Path

    from problems.definition import Problem
    from services.executor.core.job import CoreJob
    from services.executor.core.limits import StageLimits

_LARGEST_CASES = {SizeSet.CPU: CaseSize(80 << 20, 5e8), SizeSet.GPU: CaseSize(8 << 30, float("inf"))}
"""Of an author's cases, those that a device can be expected to run in seconds."""


MISSING_TORCH = "missing_torch"
"""The reason of an infrastructure failure: another machine may have torch."""


class TorchProvisions(Provisions, Protocol):
    """What definitions are evaluated with; the core's Equipment."""

    @property
    def find_problem(self) -> Callable[[str], Problem]:
        """A problem of the catalogue."""
        ...

    @property
    def torch_python(self) -> Path | None:
        """The Python that has torch; ours where none is named."""
        ...


@asynccontextmanager
async def posed(
    job: CoreJob, catalogues: Problem | None, equipment: TorchProvisions, report: MutableMapping[str, object]
) -> AsyncGenerator[Problem | None]:
    """The problem of `job`, None for a whole program; raises Failure for a definition or a plan that does not fit."""
    device = equipment.device.describe()
    async with _authored(job, catalogues, equipment, report) as problem:
        yield launched(problem, job.launch_plan, device) if problem is not None and job.launch_plan else problem


def substitution_note(report: Mapping[str, object]) -> str:
    """What the author should know if the definition was not used; empty if it was, or if none was sent."""
    if "problem_definition_unused" not in report:
        return ""
    return (
        f"The problem definition that was sent is not used, as this machine has no torch: the catalogue's "
        f"`{report['problem']}` is used in its place."
    )


@asynccontextmanager
async def _authored(
    job: CoreJob, catalogues: Problem | None, equipment: TorchProvisions, report: MutableMapping[str, object]
) -> AsyncGenerator[Problem | None]:
    if not job.problem_def:
        yield catalogues
        return
    try:
        python = torch_python(equipment.torch_python)
    except TorchMissingError as error:
        problem = _substitute(job, equipment, error)
        report["problem"] = problem.slug
        report["problem_definition_unused"] = {"sha256": _sha256(job.problem_def), "because": MISSING_TORCH}
        yield problem
        return
    with ScratchFolder(memory_parent(equipment.scratch_parent)) as folder:
        async with open_host(equipment.sandbox, python, job.problem_def, _limits(equipment.limits), folder) as host:
            problem = authors_problem(host, job.dtype, _LARGEST_CASES[job.size_set])
            report["problem_definition"] = {
                "sha256": _sha256(job.problem_def),
                "torch": python.version,
                "cases_left_out": list(problem.left_out),
            }
            yield problem


def _substitute(job: CoreJob, equipment: TorchProvisions, missing: TorchMissingError) -> Problem:
    """The catalogue's problem of that name; raises InfrastructureFailure if the source may be for another.

    A name can stand for another problem in the definition. Then the parameters of `solution`, or the launch plan, are
    others, and a verdict would blame the author for what the machine lacks.
    """
    try:
        problem = variant_of(equipment.find_problem(job.problem), job.dtype)
        why = signature_hint(job.source, problem.parameters)
        if job.launch_plan:
            launched(problem, job.launch_plan, equipment.device.describe())
    except (CatalogueError, UnknownElementTypeError, Failure) as error:
        why = str(error)
    else:
        if not why:
            return problem
    message = (
        f"This machine has no torch, which evaluates problem definitions, and the catalogue's problem cannot be used "
        f"in place of the one that was sent: {why}"
    )
    raise InfrastructureFailure(message, reason=MISSING_TORCH, details=str(missing)) from missing


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _limits(limits: StageLimits) -> HostLimits:
    array_bytes = limits.definition_array_mib << 20
    return HostLimits(limits.definition, limits.definition_start_seconds, limits.definition_seconds, array_bytes)
