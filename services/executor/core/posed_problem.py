"""The problem that a submission is judged by: the catalogue's or the author's own, with a launch plan or without."""

from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from problems.definition import SizeSet
from services.executor.core.launched_problem import launched
from services.executor.core.problem_host.authors_problem import authors_problem
from services.executor.core.problem_host.description import CaseSize
from services.executor.core.problem_host.host import HostLimits, definition_failure, open_host
from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python
from services.executor.core.run_place import Provisions
from services.executor.core.scratch import ScratchFolder, memory_parent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, MutableMapping
    from pathlib import Path

    from problems.definition import Problem
    from services.executor.core.job import CoreJob
    from services.executor.core.limits import StageLimits

_LARGEST_CASES = {SizeSet.CPU: CaseSize(80 << 20, 5e8), SizeSet.GPU: CaseSize(8 << 30, float("inf"))}
"""Of an author's cases, those that a device can be expected to run in seconds."""


class TorchProvisions(Provisions, Protocol):
    """What definitions are evaluated with; the core's Equipment."""

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
        message = f"cannot be evaluated on this machine, whose operator has to change that: {error}"
        raise definition_failure(message, "missing_torch") from error
    with ScratchFolder(memory_parent(equipment.scratch_parent)) as folder:
        async with open_host(equipment.sandbox, python, job.problem_def, _limits(equipment.limits), folder) as host:
            problem = authors_problem(host, job.dtype, _LARGEST_CASES[job.size_set])
            report["problem_definition"] = {
                "sha256": hashlib.sha256(job.problem_def.encode(errors="replace")).hexdigest(),
                "torch": python.version,
                "cases_left_out": list(problem.left_out),
            }
            yield problem


def _limits(limits: StageLimits) -> HostLimits:
    array_bytes = limits.definition_array_mib << 20
    return HostLimits(limits.definition, limits.definition_start_seconds, limits.definition_seconds, array_bytes)
