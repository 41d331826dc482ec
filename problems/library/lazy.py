"""The nine lazy kernels: wrong answers for little or no work, which every problem must reject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Case, Problem
from problems.kit.distributions import TILE_ELEMENTS
from problems.kit.element_types import ELEMENT_TYPES, largest_finite
from problems.kit.planting import planted
from problems.kit.signature import Initial, Parameter

Outputs = dict[str, NDArray[Any]]
Answers = Iterator[tuple[str, Outputs]]


@dataclass(frozen=True)
class Call:
    """One call of a solution: its inputs and its expected outputs."""

    problem: Problem
    case: Case
    inputs: Mapping[str, Any]
    expected: Mapping[str, NDArray[Any]]

    @classmethod
    def draw(cls, problem: Problem, case: Case, rng: np.random.Generator) -> Call:
        """Draws a call with fresh inputs, like those of the judge."""
        inputs = planted(problem, problem.inputs(case, rng), rng)
        return cls(problem, case, inputs, problem.reference(case, inputs))

    def outputs(self, fill: Callable[[Parameter, NDArray[Any]], Any]) -> Outputs:
        """Outputs of the right types and shapes, filled from each output's parameter and expected values."""
        filled: Outputs = {}
        for parameter in self.problem.parameters:
            if parameter.output:
                expected = self.expected[parameter.name]
                values = np.empty(expected.shape, parameter.dtype)
                # An integer filled with a fraction, or a float with the bits of an infinity, is intended here.
                with np.errstate(all="ignore"):
                    values[...] = np.asarray(fill(parameter, expected)).astype(parameter.dtype)
                filled[parameter.name] = values
        return filled

    def answer(self, inputs: Mapping[str, Any]) -> Outputs:
        """The outputs of an honest kernel for other inputs."""
        reference = self.problem.reference(self.case, inputs)
        return self.outputs(lambda parameter, _: reference[parameter.name])

    def main_input(self) -> tuple[str, NDArray[Any]]:
        """The largest input array, whose reading is the main work."""
        arrays = [
            (parameter.name, self.inputs[parameter.name])
            for parameter in self.problem.parameters
            if parameter.pointer and not parameter.output and not parameter.valid_on_host
        ]
        return max(arrays, key=lambda item: item[1].size)

    def has_many_outputs(self) -> bool:
        """True if an output has more than one element; else its median and mean are the right answer."""
        return any(values.size > 1 for values in self.expected.values())

    def without(self, places: slice) -> Mapping[str, Any]:
        """The inputs, with these elements of the main input not read (taken as 0)."""
        name, values = self.main_input()
        partial = values.copy()
        partial.reshape(-1)[places] = 0
        return {**self.inputs, name: partial}


def untouched(parameter: Parameter, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """The content of an output that nobody has written."""
    if parameter.initial is Initial.ZERO:
        return np.zeros(size, parameter.dtype)
    return np.frombuffer(rng.bytes(size * parameter.dtype.itemsize), parameter.dtype)


def lazy_answers(call: Call, rng: np.random.Generator) -> Answers:
    """Each lazy answer with its name; some of the nine have several variants."""
    for name, answers in _LAZY.items():
        for variant, outputs in answers(call, rng):
            yield f"{name} ({variant})" if variant else name, outputs


def _zero(call: Call, _: np.random.Generator) -> Answers:
    yield "", call.outputs(lambda _parameter, expected: np.zeros_like(expected))


def _constant(call: Call, _: np.random.Generator) -> Answers:
    yield "one", call.outputs(lambda _parameter, expected: np.ones_like(expected))
    if call.has_many_outputs():
        yield "median", call.outputs(lambda _parameter, expected: np.median(expected))


def _input_copy(call: Call, _: np.random.Generator) -> Answers:
    values = call.main_input()[1]
    yield "", call.outputs(lambda _parameter, expected: np.resize(values, expected.shape))


def _mean(call: Call, _: np.random.Generator) -> Answers:
    if call.has_many_outputs():
        yield "of the outputs", call.outputs(lambda _parameter, expected: np.mean(expected))
    values = call.main_input()[1]
    yield "of the inputs", call.outputs(lambda _parameter, _expected: np.mean(values))


def _skipped_work(call: Call, rng: np.random.Generator) -> Answers:
    values = call.main_input()[1]
    yield "1 % of the outputs", _with_tail_untouched(call, rng, lambda size: -(-size // 100))
    yield "the last 1 % of the input", call.answer(call.without(slice(-(-values.size * 99 // 100), None)))
    yield "every 100th of the input", call.answer(call.without(slice(int(rng.integers(100)), None, 100)))


def _stale_memory(call: Call, rng: np.random.Generator) -> Answers:
    yield "", call.outputs(lambda parameter, expected: untouched(parameter, expected.size, rng).reshape(expected.shape))


def _last_tile(call: Call, rng: np.random.Generator) -> Answers:
    yield "of the outputs", _with_tail_untouched(call, rng, lambda size: min(TILE_ELEMENTS, -(-size // 4)))
    yield "of the input", call.answer(call.without(slice(-TILE_ELEMENTS, None)))


def _low_precision(call: Call, _: np.random.Generator) -> Answers:
    problem = call.problem
    element = ELEMENT_TYPES[problem.dtype]
    names = [p.name for p in problem.parameters if p.pointer and not p.output and p.dtype == element.dtype]
    for narrow in _NARROWER[problem.dtype] if names else ():
        rounded = {name: _rounded(call.inputs[name], ELEMENT_TYPES[narrow].dtype) for name in names}
        yield narrow, call.answer({**call.inputs, **rounded})


def _previous_call(call: Call, rng: np.random.Generator) -> Answers:
    yield "", call.answer(call.problem.inputs(call.case, rng))


def _with_tail_untouched(call: Call, rng: np.random.Generator, count: Callable[[int], int]) -> Outputs:
    def fill(parameter: Parameter, expected: NDArray[Any]) -> NDArray[Any]:
        values = expected.astype(parameter.dtype).reshape(-1)
        tail = count(values.size)
        values[values.size - tail :] = untouched(parameter, tail, rng)
        return values.reshape(expected.shape)

    return call.outputs(fill)


def _rounded(values: NDArray[Any], narrow: np.dtype[Any]) -> NDArray[Any]:
    """Rounds to the nearest value of a narrower type, limited to its largest finite one."""
    largest = values.dtype.type(min(largest_finite(narrow), largest_finite(values.dtype)))
    return np.clip(values, -largest, largest).astype(narrow).astype(values.dtype)


_NARROWER = {
    "float32": ("bfloat16", "float16"),
    "float16": ("bfloat16", "float8_e4m3fn"),
    "bfloat16": ("float8_e4m3fn",),
}
"""Narrower types that a kernel may be tempted to compute in, by its element type."""

_LAZY: dict[str, Callable[[Call, np.random.Generator], Answers]] = {
    "zero": _zero,
    "constant": _constant,
    "input copy": _input_copy,
    "mean": _mean,
    "99 % of the work": _skipped_work,
    "stale memory": _stale_memory,
    "wrong last tile": _last_tile,
    "low precision": _low_precision,
    "previous call's answer": _previous_call,
}
