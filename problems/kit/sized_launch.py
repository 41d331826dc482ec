"""A launch plan with the values of one call: numbers that fit the device, and nothing left to decide."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from problems.kit.integer_expression import Expression, ExpressionError, Shape
from problems.kit.launch_plan import MAX_SCRATCH_BYTES, Constant, Launch, LaunchLimits, LaunchPlan, LaunchPlanError
from problems.kit.signature import DTYPES

_AXES = 3


@dataclass(frozen=True)
class SizedLaunch:
    """A launch in numbers; `constants` are the bytes of its constants, in order."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int
    constants: tuple[bytes, ...]


def sized_launches(plan: LaunchPlan, shape: Shape, limits: LaunchLimits) -> tuple[SizedLaunch, ...]:
    """Every launch in numbers; raises LaunchPlanError where one does not fit the device."""
    return tuple(
        _sized(launch, f"launch_plan.launches[{at}]", shape, limits) for at, launch in enumerate(plan.launches)
    )


def scratch_bytes(plan: LaunchPlan, shape: Shape) -> Mapping[str, int]:
    """The size of every scratch buffer; raises LaunchPlanError."""
    sizes: dict[str, int] = {}
    for at, buffer in enumerate(plan.scratch):
        field = f"launch_plan.scratch[{at}].bytes"
        sizes[buffer.name] = _within(_value(buffer.bytes, field, shape), 1, MAX_SCRATCH_BYTES, field, buffer.bytes)
        if sum(sizes.values()) > MAX_SCRATCH_BYTES:
            raise LaunchPlanError(field, f"all scratch together is more than {MAX_SCRATCH_BYTES >> 20} MiB")
    return sizes


def _sized(launch: Launch, field: str, shape: Shape, limits: LaunchLimits) -> SizedLaunch:
    grid = _axes(launch.grid, limits.grid, f"{field}.grid", shape)
    block = _axes(launch.block, limits.block, f"{field}.block", shape)
    if math.prod(block) > limits.threads_per_block:
        threads = " x ".join(map(str, block))
        message = f"{threads} is {math.prod(block):,} threads; a block has at most {limits.threads_per_block:,}"
        raise LaunchPlanError(f"{field}.block", message)
    lds = _value(launch.lds_bytes, f"{field}.lds_bytes", shape)
    lds = _within(lds, 0, limits.lds_bytes, f"{field}.lds_bytes", launch.lds_bytes)
    constants = tuple(
        _bytes_of(argument, f"{field}.args[{at}].value", shape)
        for at, argument in enumerate(launch.arguments)
        if isinstance(argument, Constant)
    )
    return SizedLaunch(grid, block, lds, constants)


def _axes(
    expressions: tuple[Expression, ...], most: tuple[int, int, int], field: str, shape: Shape
) -> tuple[int, int, int]:
    values = [1] * _AXES
    for at, expression in enumerate(expressions):
        path = f"{field}[{at}]"
        values[at] = _within(_value(expression, path, shape), 1, most[at], path, expression)
    return values[0], values[1], values[2]


def _value(expression: Expression, field: str, shape: Shape) -> int:
    try:
        return expression.value(shape)
    except ExpressionError as error:
        raise LaunchPlanError(field, str(error)) from error


def _within(value: int, least: int, most: int, field: str, expression: Expression) -> int:
    if not least <= value <= most:
        raise LaunchPlanError(field, f"`{expression.text}` is {value:,}; it must be from {least:,} to {most:,}")
    return value


def _bytes_of(constant: Constant, field: str, shape: Shape) -> bytes:
    dtype = DTYPES[constant.ctype]
    if isinstance(constant.value, Expression):
        value: float = _value(constant.value, field, shape)
        least, most = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        _within(int(value), least, most, field, constant.value)
    else:
        value = constant.value
    with np.errstate(over="ignore"):
        return np.array(value, dtype).tobytes()
