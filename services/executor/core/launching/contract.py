"""The contracts of a submission: host code that launches its own kernels (H), or kernels that we launch (D)."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum

from hipcpu.build_folder import BuildKind
from problems.kit.definition import Problem
from services.executor.core.compile.build import Unit
from services.executor.core.compile.harness import expected_declaration, harness_source
from services.executor.core.launching.launched_problem import LaunchedProblem
from services.executor.core.model.job import CoreJob
from submissions.modes import Mode


class Contract(StrEnum):
    """The name of a contract, as reports show it."""

    HOST = "H"
    """`extern "C" void solution(...)`: the submission's own host code, which launches its kernels."""
    DEVICE = "D"
    """Kernels and a launch plan: none of the submission's code runs on the host."""
    PROGRAM = "program"
    """A whole program with its own `main`."""


def contract_of(job: CoreJob) -> Contract:
    """The contract of a job."""
    if job.mode is Mode.SANDBOX:
        return Contract.PROGRAM
    return Contract.DEVICE if job.launch_plan else Contract.HOST


def unit_of(source: str, problem: Problem | None) -> Unit:
    """The unit to compile for `source`; a whole program if there is no problem."""
    if problem is None:
        return Unit(BuildKind.PROGRAM, source, "", "int main()")
    parameters = problem.parameters
    if isinstance(problem, LaunchedProblem):
        kernels = ", ".join(problem.plan.kernels)
        wanted = json.dumps(problem.plan.kernels, sort_keys=True)
        return Unit(BuildKind.KERNELS, source, wanted, f'extern "C" __global__ void {kernels}(...)')
    # An author's definition may use parameter names that mean something else in C++.
    numbered = [replace(parameter, name=f"argument{at}") for at, parameter in enumerate(parameters)]
    return Unit(BuildKind.SOLUTION, source, harness_source(numbered), expected_declaration(parameters))
