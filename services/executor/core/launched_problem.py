"""A problem as contract D poses it: the same parameters, the submission's scratch buffers, and the table of launches.

Scratch and table are arrays like any other: the judge writes both anew before each call, with guard bands around them,
and finds out a kernel that writes beside its scratch, or into the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from problems.definition import Problem
from problems.launch_plan import LaunchLimits, LaunchPlan, LaunchPlanError, parse_plan, shape_of
from problems.launch_table import scratch_bytes, sized_launches
from problems.signature import Parameter
from services.executor.core.failure import Failure
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from problems.definition import Case
    from services.executor.devices.device import DeviceDescription

_TABLE = "wavepool_launches"


def launched(problem: Problem, plan_text: str, device: DeviceDescription) -> LaunchedProblem:
    """The problem with a submission's launch plan; raises Failure where the plan does not fit the problem."""
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
    """Comes before the original class; made by `launched`."""

    plan: LaunchPlan
    limits: LaunchLimits

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The problem's, then the scratch buffers, then the table."""
        scratch = [Parameter(buffer.name, "uint8_t", pointer=True, const=False) for buffer in self.plan.scratch]
        table = Parameter(_TABLE, "uint64_t", pointer=True, const=True, valid_on_host=True)
        return (*super().parameters, *scratch, table)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """The problem's inputs, scratch and table; raises Failure where a launch does not fit the device."""
        values = super().inputs(case, rng)
        outputs = {name: np.broadcast_to(np.uint8(0), shape) for name, shape in self.output_shapes(case).items()}
        shape = shape_of(super().parameters, {**outputs, **values})
        try:
            launches = sized_launches(self.plan, shape, self.limits)
            sizes = scratch_bytes(self.plan, shape)
        except LaunchPlanError as error:
            raise _failure(error, f"Case `{case.name}`: ") from error
        for buffer in self.plan.scratch:
            size = sizes[buffer.name]
            content = bytes(size) if buffer.is_zero else rng.bytes(size)
            values[buffer.name] = np.frombuffer(content, np.uint8)
        values[_TABLE] = np.array([number for launch in launches for number in launch.row], np.uint64)
        return values


def shown(problem: Problem, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the problem's statement speaks of."""
    added: set[str] = set()
    if isinstance(problem, LaunchedProblem):
        added = {_TABLE, *(buffer.name for buffer in problem.plan.scratch)}
    return {name: value for name, value in values.items() if name not in added}


def _failure(error: LaunchPlanError, where: str = "") -> Failure:
    return Failure(Verdict.LAUNCH_ERROR, f"{where}{error}.", reason="launch_plan", details=error.field)
