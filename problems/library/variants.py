"""Problems in other element types than float: the same numbers, rounded, judged by one more rule.

A variant takes the float32 problem as it is. Its inputs are that problem's, rounded to the type; its reference is that
problem's fp64 reference of the rounded inputs. An output may then be off by

    1 unit of eps(type) * |expected|  +  the tolerance of the float32 problem, with float32's eps,

one rounding of the right value to the type (truncation included), after a computation in float: sums accumulate in
float, in any order. Exact problems stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Case, Problem, Tolerance
from problems.kit.element_types import ELEMENT_TYPES, ElementType, with_element_type
from problems.kit.factors import Factors
from problems.kit.signature import Parameter
from vocabulary.limits import DEFAULT_DTYPE

_FLOAT_EPS = ELEMENT_TYPES[DEFAULT_DTYPE].eps


class UnknownElementTypeError(ValueError):
    """The problem is not defined in this element type."""

    def __init__(self, problem: Problem, dtype: str) -> None:
        super().__init__(f"`{problem.slug}` has no {dtype[:40]!r}; it has {', '.join(problem.dtypes)}")


def check_element_type(problem: Problem, dtype: str) -> None:
    """Raise UnknownElementTypeError if the problem is not defined in `dtype`."""
    if dtype not in problem.dtypes:
        raise UnknownElementTypeError(problem, dtype)


def variant_of(problem: Problem, dtype: str) -> Problem:
    """The problem in one of its element types; raises UnknownElementTypeError."""
    check_element_type(problem, dtype)
    if dtype == DEFAULT_DTYPE:
        return problem
    original = type(problem)
    element = ELEMENT_TYPES[dtype]
    figures = {
        "dtype": dtype,
        "signature": with_element_type(problem.signature, element),
        "tolerance": tolerance_of(problem.tolerance, element),
        "float_tolerance": problem.tolerance,
    }
    variant = object.__new__(type(f"{original.__name__}In{dtype.capitalize()}", (_Rounded, original), figures))
    variant.__dict__.update(problem.__dict__)
    return cast("Problem", variant)


def tolerance_of(tolerance: Tolerance, element: ElementType) -> Tolerance:
    """The tolerance of a variant in `element`."""
    if tolerance.units == 0:
        return tolerance
    rule = f"1 unit of eps({element.name}) * |expected| for the last rounding, and of the computation in float: "
    return Tolerance(1.0, rule + tolerance.rule, tolerance.one_sided)


class _Rounded(Problem):
    """Precedes the original class in a variant, whose methods take and return float32 and float64."""

    float_tolerance: Tolerance

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        values = super().inputs(case, rng)
        dtypes = {parameter.name: parameter.dtype for parameter in self._elements()}
        return {name: value.astype(dtypes[name]) if name in dtypes else value for name, value in values.items()}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return super().reference(case, self._as_floats(inputs))

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        return super().alternatives(case, self._as_floats(inputs))

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        of_float = super().condition(case, self._as_floats(inputs), expected)
        return {name: np.abs(expected[name]) + self._share * values for name, values in of_float.items()}

    def factors(self, case: Case, inputs: Mapping[str, Any]) -> Factors | None:
        of_float = super().factors(case, self._as_floats(inputs))
        return None if of_float is None else replace(of_float, roundings=1.0, sums=self._share * of_float.sums)

    def bytes(self, case: Case) -> float:
        if super().bytes.__func__ is Problem.bytes:
            # It goes by the signature, which is this type's already; a problem's own count is that of its floats.
            return super().bytes(case)
        written = self.output_shapes(case)
        total, of_outputs = super().bytes(case), 0.0
        smaller = ELEMENT_TYPES[self.dtype].dtype.itemsize / ELEMENT_TYPES[DEFAULT_DTYPE].dtype.itemsize
        for parameter in self.parameters:
            if parameter.output:
                elements = prod(written[parameter.name])
                rounded = parameter.ctype == ELEMENT_TYPES[self.dtype].ctype
                of_outputs += elements * parameter.dtype.itemsize
                total -= elements * parameter.dtype.itemsize / (smaller if rounded else 1.0)
        return total * smaller + of_outputs

    @property
    def _share(self) -> float:
        """The tolerance of the float32 problem, in units of this type."""
        return self.float_tolerance.units * _FLOAT_EPS / ELEMENT_TYPES[self.dtype].eps

    def _elements(self) -> list[Parameter]:
        ctype = ELEMENT_TYPES[self.dtype].ctype
        return [p for p in self.parameters if p.pointer and p.ctype == ctype]

    def _as_floats(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        names = {parameter.name for parameter in self._elements()}
        return {name: value.astype(np.float32) if name in names else value for name, value in inputs.items()}


def variants_of(problem: Problem) -> list[Problem]:
    """The problem in each of its element types except the default."""
    return [variant_of(problem, dtype) for dtype in problem.dtypes if dtype != DEFAULT_DTYPE]


def section_on_variants(problem: Problem) -> str:
    """A statement's section on the other element types; empty if there are none."""
    elements = [ELEMENT_TYPES[dtype] for dtype in problem.dtypes if dtype != DEFAULT_DTYPE]
    if not elements:
        return ""
    declarations = "\n".join(f'extern "C" void solution({with_element_type(problem.signature, e)});' for e in elements)
    names = "; ".join(
        f"{e.name}: {' or '.join(f'`{s}`' for s in e.spellings if 'nv' not in s)} from `<{e.header}>`" for e in elements
    )
    return f"\n## Other element types\n\n```cpp\n{declarations}\n```\n\n{names}. {_rule(problem, elements)}\n"


def _rule(problem: Problem, elements: list[ElementType]) -> str:
    if problem.tolerance.units == 0:
        return "The tolerance is the same: outputs must be equal."
    spacings = ", ".join(f"2^{round(np.log2(e.eps))} for {e.name}" for e in elements)
    return (
        "Compute in `float` and round once, at the end: an element may be off by what is said above, with the `eps` of "
        f"float, and by 1 unit of `eps * |expected|` more, with the `eps` of the output's type ({spacings})."
    )
