"""A problem for the HIP source of a Python file: our glue makes torch's tensors of the arrays and calls its function.

The tensors' types, sizes and strides come to the glue in one more parameter, which only the host reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from problems.kit.definition import Case, Problem
from problems.kit.element_types import ELEMENT_TYPES
from problems.kit.signature import Parameter
from services.executor.core.compile.python_calls import (
    Argument,
    Call,
    Computed,
    Data,
    Extent,
    New,
    NotLiftedError,
    Number,
    Scratch,
)
from services.executor.core.compile.python_source import Lifted
from services.executor.core.problem_host.authors_problem import AuthorsProblem, SeededInputs

_DESCRIBED = "wavepool_tensors"
_STAND_IN = Path(__file__).parents[1] / "compile" / "torch_stand_in.hpp"
_OF_TORCH = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch|ATen|c10|pybind11)/[^\n]*$', re.MULTILINE)
_TENSOR = re.compile(r"\bTensor\b")
_CODES = {
    **{np.dtype(code): at for at, code in enumerate(["B", "b", "h", "i", "q", "e", "f", "d", "?"])},
    ELEMENT_TYPES["bfloat16"].dtype: 9,
    ELEMENT_TYPES["float8_e4m3fn"].dtype: 10,
    ELEMENT_TYPES["float8_e5m2"].dtype: 11,
    ELEMENT_TYPES["float8_e4m3fnuz"].dtype: 12,
    ELEMENT_TYPES["float8_e5m2fnuz"].dtype: 13,
    np.dtype(np.uint16): 14,
    np.dtype(np.uint32): 15,
    np.dtype(np.uint64): 16,
}
"""Element types in the order of `c10::ScalarType` in torch_stand_in.hpp."""


def with_tensors(problem: Problem, lifted: Lifted) -> tuple[Problem, str]:
    """The problem with the tensors' description, and the source with glue; raises NotLiftedError."""
    source = _source(problem, lifted)
    original = type(problem)
    made = object.__new__(type(f"Lifted{original.__name__}", (LiftedProblem, original), {}))
    made.__dict__.update(problem.__dict__)
    return cast("Problem", made), source


class LiftedProblem(Problem):
    """A problem whose tensors are described. `with_tensors` derives its class from this one, then the original one."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The problem's parameters, then the description."""
        described = Parameter(_DESCRIBED, "int64_t", pointer=True, const=True, valid_on_host=True)
        return (*super().parameters, described)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """The problem's inputs and the description; raises Failure."""
        values = super().inputs(case, rng)
        tensors = [parameter for parameter in super().parameters if _is_tensor(parameter)]
        shapes = {**{name: np.shape(value) for name, value in values.items()}, **self.output_shapes(case)}
        lying = values.lying if isinstance(values, SeededInputs) else {}
        words = [word for one in tensors for word in _words(one, *lying.get(one.name, _row_major(shapes[one.name])))]
        values[_DESCRIBED] = np.array(words, np.int64)
        return values

    def sized_inputs(self, case: Case, bits: np.random.BitGenerator) -> Mapping[str, Any] | None:
        """Returns None: the description must have its values."""


def _words(parameter: Parameter, sizes: Sequence[int], strides: Sequence[int]) -> list[int]:
    return [_CODES[parameter.dtype], len(sizes), *sizes, *strides]


def _row_major(shape: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    strides = [1] * len(shape)
    for at in range(len(shape) - 1, 0, -1):
        strides[at - 1] = strides[at] * max(1, shape[at])
    return shape, strides


def _is_tensor(parameter: Parameter) -> bool:
    return parameter.pointer and not parameter.valid_on_host


def _source(problem: Problem, lifted: Lifted) -> str:
    parameters = problem.parameters
    names = [f"argument{at}" for at in range(len(parameters))]
    declared = ", ".join(
        f"void* {name}" if one.pointer else f"{one.ctype} {name}" for one, name in zip(parameters, names, strict=True)
    )
    made = "".join(
        f"  const at::Tensor tensor{at} = wavepool::tensor(argument{at}, described);\n"
        for at, one in enumerate(parameters)
        if _is_tensor(one)
    )
    outputs = [f"tensor{at}" for at, one in enumerate(parameters) if one.output]
    made += "".join(
        f"  const at::Tensor scratch{at} = {_passed(one, problem, outputs)};\n"
        for at, one in enumerate(lifted.made.scratch)
    )
    alone = len(lifted.made.calls) == 1
    called = "".join(_call(one, problem, lifted, outputs, alone=alone) for one in lifted.made.calls)
    return (
        f"{with_stand_in(lifted.source, made + called)}"
        f'#line 1 "glue.hpp"\nextern "C" void solution({declared}, const int64_t* described) {{\n{made}{called}}}\n'
    )


def _call(call: Call, problem: Problem, lifted: Lifted, outputs: Sequence[str], *, alone: bool) -> str:
    """A call as a statement; what it returns is the result if the file returns it, or makes no other call."""
    arguments = _arguments(call, problem, lifted, outputs)
    called = f"{_function(call, lifted)}({', '.join(_passed(one, problem, outputs) for one in arguments)})"
    tests = [f"({_passed(one, problem, outputs)})" for one in call.conditions]
    condition = f"if ({' && '.join(tests)}) " if tests else ""
    if call.is_returned or alone:
        return f"  {condition}wavepool::call([&] {{ return {called}; }}, {{{', '.join(outputs)}}});\n"
    return f"  {condition}(void)({called});\n"


def with_stand_in(source: str, passed: str = "") -> str:
    """A source that includes torch's headers, with ours in their place; `passed` is code that will follow."""
    kept = _OF_TORCH.sub("", source)
    packs = "#define WAVEPOOL_PACKS\n" if "contiguous()" in kept + passed else ""
    return f'{packs}#line 1 "torch_stand_in.hpp"\n{_STAND_IN.read_text()}\n#line 1 "solution.hip"\n{kept}\n'


def _function(call: Call, lifted: Lifted) -> str:
    """The C++ function that the module offers by the name that is called; raises NotLiftedError."""
    offered = re.search(rf'\.\s*def\s*\(\s*"{re.escape(call.function)}"\s*,\s*&\s*([\w:]+)', lifted.source)
    function = offered[1] if offered else call.function
    if not re.search(rf"\b{re.escape(function)}\s*\(", lifted.source):
        raise NotLiftedError(f"its HIP source does not define `{function}`")
    return function


def _data(problem: Problem) -> list[str]:
    """The tensors of a contest's data, in order: those of the definition, or all inputs and outputs."""
    parameters = problem.parameters
    places = problem.data if isinstance(problem, AuthorsProblem) and problem.data else range(len(parameters))
    return [f"tensor{at}" for at in places if _is_tensor(parameters[at])]


def _arguments(call: Call, problem: Problem, lifted: Lifted, outputs: Sequence[str]) -> Sequence[Argument]:
    if call.arguments is not None:
        return call.arguments
    definition = re.search(rf"\b{re.escape(_function(call, lifted))}\s*\(([^(){{}};]*)\)\s*\{{", lifted.source)
    if definition is None:
        raise NotLiftedError(f"what `{call.function}` takes cannot be read; call it in `custom_kernel`")
    declared = [one for one in definition[1].split(",") if one.strip()]
    if not all(_TENSOR.search(one) for one in declared):
        raise NotLiftedError(f"what it passes to `{call.function}` cannot be followed; call it in `custom_kernel`")
    data = _data(problem)
    inputs = [one for one in data if one not in outputs]
    if len(declared) not in {len(inputs), len(data), len(inputs) + len(outputs)}:
        raise NotLiftedError(
            f"`{call.function}` takes {len(declared)} tensors, and the problem has {len(inputs)} inputs and "
            f"{len(outputs)} outputs"
        )
    return [Data(at) if at < len(data) else New(at - len(data)) for at in range(len(declared))]


def _passed(argument: Argument, problem: Problem, outputs: Sequence[str]) -> str:
    match argument:
        case Data(at=at, is_packed=is_packed):
            return f"{_at(_data(problem), at)}{'.contiguous()' if is_packed else ''}"
        case New(at=at):
            return _at(outputs, at)
        case Scratch(at=at):
            return f"scratch{at}"
        case Computed(parts=parts):
            return "".join(one if isinstance(one, str) else _passed(one, problem, outputs) for one in parts)
        case Extent(at=at, dimension=dimension):
            size = "numel()" if dimension is None else f"size({dimension})"
            return f"{_at(_data(problem), at)}.{size}"
        case Number(value=value):
            return str(value).lower() if isinstance(value, bool) else repr(value)


def _at(tensors: Sequence[str], at: int) -> str:
    if not -len(tensors) <= at < len(tensors):
        raise NotLiftedError(f"it uses part {at} of the data, which has {len(tensors)} tensors")
    return tensors[at]
