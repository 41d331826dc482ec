"""The part of the linter that runs code: the cases of a problem, its reference, and the nine lazy kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from math import prod
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.definition import Case, Problem, SizeSet
from problems.kit.element_types import is_floating, largest_finite
from problems.library.findings import Finding
from problems.library.lazy import Call, lazy_answers
from vocabulary.limits import DEFAULT_DTYPE

MAX_REFERENCE_SECONDS = 2.0
"""Processor time for inputs, reference and condition of all CPU cases together: the judge makes them for every call."""

NEVER_RIGHT = frozenset({"zero", "constant", "input copy", "mean", "stale memory", "previous call's answer"})
"""Lazy kernels that must fail every case; the others must fail at least one, as they skip little work."""

_HBM_BYTES_PER_SECOND = 5.3e12
_FP32_FLOPS = 163.4e12
_HIDDEN_SEEDS = range(16)
_DRAWN_SEEDS = range(2)


def lint_cases(problem: Problem, max_reference_seconds: float = MAX_REFERENCE_SECONDS) -> Iterator[Finding]:
    """Findings about a problem's cases; the lazy kernels run only if the cases are in order."""
    form = [*_public_cases(problem), *_hidden_cases(problem)]
    for case in problem.sizes.cpu:
        form += _inputs(problem, case)
    yield from form
    if form:
        return
    calls, seconds = _drawn(problem)
    if seconds > max_reference_seconds:
        yield Finding(
            problem.slug, "speed", f"the CPU cases take {seconds:.1f} s to make; stay below {max_reference_seconds:g} s"
        )
    hidden = [problem.hidden_case(SizeSet.CPU, np.random.default_rng(seed)) for seed in _DRAWN_SEEDS]
    others = [Call.draw(problem, case, np.random.default_rng(11)) for case in hidden]
    dishonest = [finding for call in calls for finding in _honest(call)]
    dishonest += [finding for call in (*calls, *others) for finding in _alternatives(call)]
    yield from dishonest or _lazy(problem, calls)


def lint_variant(variant: Problem) -> Iterator[Finding]:
    """Findings about a problem in another element type, once the problem itself is in order."""
    calls, _ = _drawn(variant)
    checks = (_overflows, _honest, _alternatives)
    dishonest = [finding for call in calls for check in checks for finding in check(call)]
    for finding in dishonest or _lazy(variant, calls):
        yield replace(finding, message=f"{variant.dtype}: {finding.message}")


def _overflows(call: Call) -> Iterator[Finding]:
    """Findings about values near the type's largest number, at which correct kernels may differ about infinity."""
    for parameter in call.problem.parameters:
        if parameter.pointer and is_floating(parameter.dtype):
            values = call.expected[parameter.name] if parameter.output else call.inputs[parameter.name]
            # Compare as floats, because numpy warns for some of the types and not for others.
            if not (np.abs(values.astype(np.float64)) < largest_finite(parameter.dtype) / 2).all():
                message = f"`{call.case.name}`: `{parameter.name}` comes near the type's largest number"
                yield Finding(call.problem.slug, "inputs", message)


def _drawn(problem: Problem) -> tuple[list[Call], float]:
    # Do not measure imports of libraries on a reference's first call.
    Call.draw(problem, problem.sizes.cpu[0], np.random.default_rng(11))
    started = process_time()
    calls = [Call.draw(problem, case, np.random.default_rng(11)) for case in problem.sizes.cpu]
    for call in calls:
        problem.condition(call.case, call.inputs, call.expected)
    return calls, process_time() - started


def _public_cases(problem: Problem) -> Iterator[Finding]:
    for size_set in SizeSet:
        cases = problem.sizes.of(size_set)
        if not cases:
            yield Finding(problem.slug, "cases", f"no {size_set} cases")
        if len({case.name for case in cases}) < len(cases):
            yield Finding(problem.slug, "cases", f"two {size_set} cases have the same name")
        yield from chain.from_iterable(_figures(problem, case) for case in cases)


def _figures(problem: Problem, case: Case) -> Iterator[Finding]:
    """Findings about shapes, operations and bytes, and about a physical floor above the time limit."""
    shapes = problem.output_shapes(case)
    if set(shapes) != set(problem.outputs) or not all(prod(shape) for shape in shapes.values()):
        yield Finding(problem.slug, "cases", f"`{case.name}`: output shapes {shapes}; give each output some elements")
    flops, traffic = problem.flops(case), problem.bytes(case)
    if not (flops > 0 and traffic > 0):
        yield Finding(problem.slug, "cost", f"`{case.name}`: {flops} flops and {traffic} bytes; both are above 0")
    floor = max(traffic / _HBM_BYTES_PER_SECOND, flops / _FP32_FLOPS)
    if floor > problem.time_limit_seconds / 10:
        yield Finding(problem.slug, "cost", f"`{case.name}`: takes {floor:.2f} s at best; raise time_limit_seconds")


def _hidden_cases(problem: Problem) -> Iterator[Finding]:
    for size_set in SizeSet:
        cases = [problem.hidden_case(size_set, np.random.default_rng(seed)) for seed in _HIDDEN_SEEDS]
        if len({case.name for case in cases}) == 1:
            yield Finding(problem.slug, "hidden cases", f"{size_set}: the same case from every seed")
        yield from chain.from_iterable(_figures(problem, case) for case in cases)
        if size_set is SizeSet.CPU:
            yield from chain.from_iterable(_inputs(problem, case) for case in cases[:2])


def _inputs(problem: Problem, case: Case) -> Iterator[Finding]:
    inputs = problem.inputs(case, np.random.default_rng(5))
    wanted = {parameter.name: parameter for parameter in problem.parameters if not parameter.output}
    if set(inputs) != set(wanted):
        yield Finding(problem.slug, "inputs", f"`{case.name}`: has {sorted(inputs)}, the signature {sorted(wanted)}")
        return
    for name, parameter in wanted.items():
        if not _fits(inputs[name], parameter.dtype, pointer=parameter.pointer):
            yield Finding(problem.slug, "inputs", f"`{case.name}`: `{name}` is not finite {parameter.declaration}")
    if not _equal(inputs, problem.inputs(case, np.random.default_rng(5))):
        yield Finding(problem.slug, "inputs", f"`{case.name}`: the same seed gives other inputs; draw from `rng` only")
    if _equal(inputs, problem.inputs(case, np.random.default_rng(6))):
        yield Finding(problem.slug, "inputs", f"`{case.name}`: another seed gives the same inputs; draw from `rng`")
    yield from _outside(problem, case, inputs)
    yield from _traffic(problem, case, inputs)


def _outside(problem: Problem, case: Case, inputs: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings about domains of inputs that are not arrays of floats, or that the problem's own inputs leave."""
    for name, domain in problem.domains.items():
        array = np.asarray(inputs.get(name, 0))
        if not array.ndim or not is_floating(array.dtype):
            yield Finding(problem.slug, "domains", f"`{name}` is no array of floats; name such inputs only")
        elif not (domain.low <= float(array.min()) and float(array.max()) <= domain.high):
            message = f"`{case.name}`: `{name}` leaves its domain {domain.low}..{domain.high}"
            yield Finding(problem.slug, "domains", message)


def _traffic(problem: Problem, case: Case, inputs: Mapping[str, Any]) -> Iterator[Finding]:
    dtypes = {parameter.name: parameter.dtype for parameter in problem.parameters}
    written = sum(prod(shape) * dtypes[name].itemsize for name, shape in problem.output_shapes(case).items())
    read = sum(value.nbytes for value in inputs.values() if isinstance(value, np.ndarray))
    if not written <= problem.bytes(case) <= written + read:
        total = f"{written} written and at most {read} read"
        yield Finding(problem.slug, "cost", f"`{case.name}`: {problem.bytes(case):.0f} bytes, but {total}")


def _fits(value: Any, dtype: np.dtype[Any], *, pointer: bool) -> bool:  # noqa: ANN401 - inputs are of any type
    if pointer:
        array: NDArray[Any] = np.asarray(value)
        contiguous = isinstance(value, np.ndarray) and array.flags.c_contiguous and array.size > 0
        return bool(contiguous and array.dtype == dtype and np.isfinite(array).all())
    return isinstance(value, (int, float)) and bool(np.isfinite(value)) and dtype.type(value) == value


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def _honest(call: Call) -> Iterator[Finding]:
    shapes = {name: values.shape for name, values in call.expected.items()}
    if shapes != call.problem.output_shapes(call.case):
        yield Finding(call.problem.slug, "reference", f"`{call.case.name}`: has shapes {shapes}, not output_shapes'")
    elif _mismatches(call, call.answer(call.inputs)):
        message = "the reference itself, rounded to the output's type, is not within the tolerance"
        yield Finding(call.problem.slug, "tolerance", f"`{call.case.name}`: {message}")


def _alternatives(call: Call) -> Iterator[Finding]:
    problem, case = call.problem, call.case
    condition = problem.condition(case, call.inputs, call.expected)
    for made_by, answer in problem.alternatives(case, call.inputs).items():
        outputs = call.outputs(lambda parameter, _, answer=answer: answer[parameter.name])
        for name, values in outputs.items():
            result = compare(values, call.expected[name], condition[name], problem.tolerance, first=0)
            if not result.passed:
                figures = f"{result.max_units:.3g} units off, {result.bias_units:.3g} on average"
                message = f"`{case.name}`: {made_by}: `{name}` is {figures}, of {result.allowed_units:g}"
                yield Finding(problem.slug, "alternatives", message)


def _lazy(problem: Problem, calls: list[Call]) -> Iterator[Finding]:
    passed: dict[str, list[bool]] = {}
    rng = np.random.default_rng(13)
    for call in calls:
        for name, outputs in lazy_answers(call, rng):
            passed.setdefault(name, []).append(_mismatches(call, outputs) == 0)
    for name, cases in passed.items():
        # In a narrow type, functions of small numbers may round to the numbers themselves.
        never_right = problem.dtype == DEFAULT_DTYPE and name.split(" (")[0] in NEVER_RIGHT
        if (any if never_right else all)(cases):
            names = [call.case.name for call, right in zip(calls, cases, strict=True) if right]
            message = f"{name}: passes {'; '.join(names)}; sharpen the inputs or the tolerance"
            yield Finding(problem.slug, "lazy kernel", message)


def _mismatches(call: Call, outputs: Mapping[str, NDArray[Any]]) -> int:
    condition = call.problem.condition(call.case, call.inputs, call.expected)
    tolerance = call.problem.tolerance
    return sum(
        compare(values, call.expected[name], condition[name], tolerance, first=0).mismatches
        for name, values in outputs.items()
    )
