"""A problem under contract D: the same parameters, and the submission's scratch buffers.

Scratch is an array like any other: the judge writes it before each call, with guard bands around it, and detects a
kernel that writes outside it. The plan becomes a launch program, which depends only on the sizes of a call.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from problems.kit.definition import Case, Problem
from problems.kit.integer_expression import Shape
from problems.kit.launch_plan import Constant, LaunchLimits, LaunchPlan, LaunchPlanError, parse_plan, shape_of
from problems.kit.launch_plan import Launch as PlannedLaunch
from problems.kit.signature import Parameter
from problems.kit.sized_launch import SizedLaunch, scratch_bytes, sized_launches
from services.executor.core.launching.program import (
    ADDRESS_BYTES,
    DEFAULT_STREAM,
    Base,
    Launch,
    LaunchProgram,
    Place,
    Relocation,
    Value,
)
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict
from services.executor.devices.device import DeviceDescription


def launched(problem: Problem, plan_text: str, device: DeviceDescription) -> LaunchedProblem:
    """Returns the problem with a submission's launch plan; raises Failure if the plan does not fit the problem."""
    limits = LaunchLimits(threads_per_block=device.max_threads_per_block, lds_bytes=device.max_lds_bytes)
    try:
        plan = parse_plan(plan_text, problem.parameters)
    except LaunchPlanError as error:
        raise _failure(error) from error
    original = type(problem)
    figures = {"plan": plan, "limits": limits}
    made = object.__new__(type(f"Launched{original.__name__}", (LaunchedProblem, original), figures))
    made.__dict__.update(problem.__dict__)
    return cast("LaunchedProblem", made)


class LaunchedProblem(Problem):
    """A problem with a launch plan. `launched` derives its class from this one, then the original class."""

    plan: LaunchPlan
    limits: LaunchLimits

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The problem's parameters, then the scratch buffers."""
        scratch = [Parameter(buffer.name, "uint8_t", pointer=True, const=False) for buffer in self.plan.scratch]
        return (*self.own_parameters, *scratch)

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The problem's parameters, without the scratch buffers."""
        return super().parameters

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """The problem's inputs and scratch; raises Failure if a buffer is too large."""
        values = super().inputs(case, rng)
        if not self.plan.scratch:
            return values  # These may be shapes without values.
        with _in_case(case):
            sizes = scratch_bytes(self.plan, self._shape(case, values))
        for buffer in self.plan.scratch:
            size = sizes[buffer.name]
            content = bytes(size) if buffer.is_zero else rng.bytes(size)
            values[buffer.name] = np.frombuffer(content, np.uint8)
        return values

    def program(self, case: Case, inputs: Mapping[str, Any]) -> LaunchProgram:
        """The launch program of a call with these inputs; raises Failure if a launch does not fit the device."""
        with _in_case(case):
            sizes = sized_launches(self.plan, self._shape(case, inputs), self.limits)
        launches = tuple(self._launch(*both) for both in zip(self.plan.launches, sizes, strict=True))
        return LaunchProgram((), (), (), 0, launches, launches)

    def _shape(self, case: Case, inputs: Mapping[str, Any]) -> Shape:
        outputs = {name: np.broadcast_to(np.uint8(0), shape) for name, shape in self.output_shapes(case).items()}
        return shape_of(self.own_parameters, {**outputs, **inputs})

    def _launch(self, launch: PlannedLaunch, size: SizedLaunch) -> Launch:
        constants = iter(size.constants)
        values = tuple(
            Value(next(constants)) if isinstance(argument, Constant) else self._argument(argument)
            for argument in launch.arguments
        )
        return Launch(DEFAULT_STREAM, launch.kernel, size.grid, size.block, size.lds_bytes, False, values)

    def _argument(self, name: str) -> Value:
        """A launch argument: an array's address, or the value of a scalar."""
        at, parameter = next((at, one) for at, one in enumerate(self.parameters) if one.name == name)
        base, size = (Base.ARGUMENT, ADDRESS_BYTES) if parameter.pointer else (Base.SCALAR, parameter.dtype.itemsize)
        return Value(bytes(size), (Relocation(0, Place(base, at, 0), size),))


def shown(problem: Problem, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the problem's statement mentions, without scratch."""
    added: set[str] = set()
    if isinstance(problem, LaunchedProblem):
        added = {buffer.name for buffer in problem.plan.scratch}
    return {name: value for name, value in values.items() if name not in added}


@contextmanager
def _in_case(case: Case) -> Generator[None]:
    try:
        yield
    except LaunchPlanError as error:
        raise _failure(error, f"Case `{case.name}`: ") from error


def _failure(error: LaunchPlanError, where: str = "") -> Failure:
    return Failure(Verdict.LAUNCH_ERROR, f"{where}{error}.", reason="launch_plan", details=error.field)
