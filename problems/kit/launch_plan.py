"""The launch plan of a submission that has kernels only: what is launched, in which order, how large, on what.

    {"scratch": [{"name": "partial", "bytes": "ceil_div(n, 256) * 4", "initial": "zero"}],
     "launches": [{"kernel": "sum", "grid": ["ceil_div(n, 256)"], "block": [256], "lds_bytes": 1024,
                   "args": ["input", "partial", "n", {"type": "float", "value": 0.5}]}]}

docs/contracts.md describes it for its authors. `parse_plan` finds whatever is wrong with it but for the values of its
expressions, which only a shape gives: `resolve`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from problems.kit.integer_expression import Expression, ExpressionError, Shape, parse
from problems.kit.signature import DTYPES
from vocabulary.limits import MAX_PLAN_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from problems.kit.signature import Parameter

MAX_LAUNCHES = 64
MAX_SCRATCH_BUFFERS = 16
MAX_SCRATCH_BYTES = 1 << 30
"""Of all buffers together."""
_AXES = 3
_MAX_KERNEL_ARGUMENTS = 60
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
# What can be written as a constant: numbers of C types that numpy has, too.
_CONSTANT_TYPES = {name: dtype for name, dtype in DTYPES.items() if dtype.kind in "iufb"}


class LaunchPlanError(ValueError):
    """A launch plan cannot be used; `field` is its path, e.g. `launch_plan.launches[0].grid[1]`."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class Scratch:
    """Memory of the submission's own; before each call it holds zeros, or random bits where `is_zero` is not set."""

    name: str
    bytes: Expression
    is_zero: bool


@dataclass(frozen=True)
class Constant:
    """A number that is passed by value."""

    ctype: str
    value: Expression | float


@dataclass(frozen=True)
class Launch:
    """One launch; an argument is the name of a parameter or of a scratch buffer, or a constant."""

    kernel: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    lds_bytes: Expression
    arguments: tuple[str | Constant, ...]


@dataclass(frozen=True)
class LaunchPlan:
    """What a call does."""

    launches: tuple[Launch, ...]
    scratch: tuple[Scratch, ...]

    @property
    def kernels(self) -> dict[str, int]:
        """The kernels that it launches, with how many arguments each gets."""
        return {launch.kernel: len(launch.arguments) for launch in self.launches}


@dataclass(frozen=True)
class LaunchLimits:
    """What a device takes: threads of a block, blocks of a grid and LDS bytes of a block."""

    block: tuple[int, int, int] = (1024, 1024, 1024)
    threads_per_block: int = 1024
    grid: tuple[int, int, int] = (0x7FFFFFFF, 65535, 65535)
    lds_bytes: int = 64 << 10


def parse_plan(text: str, parameters: Sequence[Parameter] | None) -> LaunchPlan:
    """Read a plan for a problem with these parameters, or for any where they are not known; raises LaunchPlanError."""
    if len(text.encode(errors="replace")) > MAX_PLAN_BYTES:
        raise LaunchPlanError("launch_plan", f"is larger than {MAX_PLAN_BYTES:,} bytes")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LaunchPlanError("launch_plan", f"is not JSON: {error}") from error
    plan = _object(value, "launch_plan", {"launches"}, {"scratch"})
    listed = _list(plan.get("scratch", []), "launch_plan.scratch", 0, MAX_SCRATCH_BUFFERS)
    scratch = tuple(_scratch(item, f"launch_plan.scratch[{at}]", parameters) for at, item in enumerate(listed))
    _refuse_repeated(scratch, parameters)
    names = None if parameters is None else {p.name for p in parameters} | {buffer.name for buffer in scratch}
    listed = _list(plan["launches"], "launch_plan.launches", 1, MAX_LAUNCHES)
    reader = _LaunchReader(parameters, names)
    launches = tuple(reader.launch(item, f"launch_plan.launches[{at}]") for at, item in enumerate(listed))
    _refuse_uneven(launches)
    return LaunchPlan(launches, scratch)


@dataclass(frozen=True)
class _LaunchReader:
    """Reads launches; without `names`, any name may be one of the problem's."""

    parameters: Sequence[Parameter] | None
    names: set[str] | None

    def launch(self, value: object, field: str) -> Launch:
        fields = _object(value, field, {"kernel", "grid", "block", "args"}, {"lds_bytes"})
        arguments = _list(fields["args"], f"{field}.args", 0, _MAX_KERNEL_ARGUMENTS)
        return Launch(
            kernel=_name(fields["kernel"], f"{field}.kernel"),
            grid=self._axes(fields["grid"], f"{field}.grid"),
            block=self._axes(fields["block"], f"{field}.block"),
            lds_bytes=_expression(fields.get("lds_bytes", 0), f"{field}.lds_bytes", self.parameters),
            arguments=tuple(self._argument(item, f"{field}.args[{at}]") for at, item in enumerate(arguments)),
        )

    def _axes(self, value: object, field: str) -> tuple[Expression, ...]:
        listed = _list(value, field, 1, _AXES)
        return tuple(_expression(item, f"{field}[{at}]", self.parameters) for at, item in enumerate(listed))

    def _argument(self, value: object, field: str) -> str | Constant:
        if isinstance(value, str):
            if self.names is not None and value not in self.names:
                known = ", ".join(f"`{name}`" for name in sorted(self.names))
                message = f"`{value[:60]}` is not a parameter or scratch buffer; choose {known}"
                raise LaunchPlanError(field, message)
            return value
        constant = _object(value, field, {"type", "value"}, set())
        ctype = constant["type"]
        if not isinstance(ctype, str) or ctype not in _CONSTANT_TYPES:
            raise LaunchPlanError(f"{field}.type", f"must be one of {', '.join(_CONSTANT_TYPES)}")
        if _CONSTANT_TYPES[ctype].kind == "f":
            return Constant(ctype, _number(constant["value"], f"{field}.value"))
        return Constant(ctype, _expression(constant["value"], f"{field}.value", self.parameters))


def _scratch(value: object, field: str, parameters: Sequence[Parameter] | None) -> Scratch:
    fields = _object(value, field, {"name", "bytes"}, {"initial"})
    initial = fields.get("initial", "uninitialized")
    if initial not in {"zero", "uninitialized"}:
        raise LaunchPlanError(f"{field}.initial", "must be `zero` or `uninitialized`")
    size = _expression(fields["bytes"], f"{field}.bytes", parameters)
    return Scratch(_name(fields["name"], f"{field}.name"), size, initial == "zero")


def _refuse_repeated(scratch: Sequence[Scratch], parameters: Sequence[Parameter] | None) -> None:
    taken = {parameter.name for parameter in parameters or ()}
    for at, buffer in enumerate(scratch):
        if buffer.name in taken or buffer.name.startswith("wavepool"):
            raise LaunchPlanError(f"launch_plan.scratch[{at}].name", f"`{buffer.name}` is taken; choose another")
        taken.add(buffer.name)


def _refuse_uneven(launches: Sequence[Launch]) -> None:
    counts: dict[str, int] = {}
    for at, launch in enumerate(launches):
        count = counts.setdefault(launch.kernel, len(launch.arguments))
        if count != len(launch.arguments):
            message = f"`{launch.kernel}` gets {len(launch.arguments)} arguments here and {count} in an earlier launch"
            raise LaunchPlanError(f"launch_plan.launches[{at}].args", message)


def _object(value: object, field: str, needed: set[str], optional: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LaunchPlanError(field, f"must be an object with {', '.join(sorted(needed))}")
    fields = cast("dict[str, Any]", value)
    for name in sorted(needed):
        if name not in fields:
            raise LaunchPlanError(f"{field}.{name}", "is required")
    for name in fields:
        if name not in needed | optional:
            known = ", ".join(sorted(needed | optional))
            raise LaunchPlanError(f"{field}.{name[:60]}", f"is not known here; there are {known}")
    return fields


def _list(value: object, field: str, least: int, most: int) -> list[object]:
    if not isinstance(value, list) or not least <= len(cast("list[object]", value)) <= most:
        raise LaunchPlanError(field, f"must be a list of {least} to {most}")
    return cast("list[object]", value)


def _name(value: object, field: str) -> str:
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        raise LaunchPlanError(field, "must be a C identifier")
    return value


def _number(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LaunchPlanError(field, "must be a number")
    try:
        return float(value)
    except OverflowError as error:
        raise LaunchPlanError(field, "is too large") from error


def _expression(value: object, field: str, parameters: Sequence[Parameter] | None) -> Expression:
    if not isinstance(value, int | str):
        raise LaunchPlanError(field, "must be an integer, or an expression as text")
    try:
        expression = parse(value)
    except ExpressionError as error:
        raise LaunchPlanError(field, str(error)) from error
    if parameters is not None:
        known = {parameter.name for parameter in parameters}
        for name in sorted(expression.names - known):
            listed = ", ".join(f"`{known_name}`" for known_name in sorted(known))
            raise LaunchPlanError(field, f"`{name[:60]}` is not a parameter of this problem; choose {listed}")
    return expression


def shape_of(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> Shape:
    """What expressions may name in a call with these values; `values` lacks nothing but floats and outputs' content."""
    scalars: dict[str, int] = {}
    elements: dict[str, int] = {}
    arrays: dict[str, Sequence[int]] = {}
    for parameter in parameters:
        value = values[parameter.name]
        if not parameter.pointer:
            if parameter.dtype.kind in "iub":
                scalars[parameter.name] = int(value)
            continue
        elements[parameter.name] = math.prod(np.shape(value))
        if parameter.valid_on_host and parameter.dtype.kind in "iu":
            arrays[parameter.name] = [int(item) for item in np.asarray(value).reshape(-1)]
    return Shape(scalars, elements, arrays)
