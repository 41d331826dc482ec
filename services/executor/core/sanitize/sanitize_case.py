"""The cases that a solution is checked on, and their arguments as bytes for the program that calls it."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from problems.kit.definition import Case, Problem
from problems.kit.signature import Initial, Parameter

HARNESS = Path(__file__).with_name("sanitize_harness.cpp")
MOST_CASES = 3
_MOST_CASE_BYTES = 8 << 20
"""The most bytes of a case beside the smallest, as checking every access takes long."""
_ARGUMENT = struct.Struct("<IIQ48s")
_NAME_BYTES = 47
_SCALAR, _DEVICE_ARRAY, _HOST_READABLE_ARRAY = 0, 1, 2


def small_cases(problem: Problem, cases: Sequence[Case]) -> list[Case]:
    """The smallest of `cases`, by the bytes that they move. Public sizes include odd ones as well as round ones."""
    by_size = sorted(cases, key=problem.bytes)[:MOST_CASES]
    return [case for at, case in enumerate(by_size) if at == 0 or problem.bytes(case) <= _MOST_CASE_BYTES]


def arguments_of(problem: Problem, case: Case, rng: np.random.Generator) -> bytes:
    """The arguments in the format of `sanitize_harness.cpp`. Outputs that hold nothing before a call stay unwritten."""
    inputs = problem.inputs(case, rng)
    shapes = problem.output_shapes(case)
    return b"".join(part for parameter in problem.parameters for part in _argument(parameter, inputs, shapes))


def _argument(
    parameter: Parameter, inputs: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[bytes]:
    if parameter.output:
        array = np.zeros(shapes[parameter.name], parameter.dtype)
    else:
        array = np.ascontiguousarray(np.asarray(inputs[parameter.name]).astype(parameter.dtype, copy=False))
    is_filled = not parameter.output or parameter.initial is Initial.ZERO
    name = parameter.name.encode(errors="replace")[:_NAME_BYTES]
    yield _ARGUMENT.pack(_kind(parameter), int(is_filled), array.nbytes, name)
    if is_filled:
        data = array.tobytes()
        yield data + bytes(-len(data) % 8)


def _kind(parameter: Parameter) -> int:
    if not parameter.pointer:
        return _SCALAR
    return _HOST_READABLE_ARRAY if parameter.valid_on_host else _DEVICE_ARRAY
