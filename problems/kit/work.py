"""The work of one call of a problem's kernel."""

from __future__ import annotations

import math

from problems.kit.definition import Case, Problem
from vocabulary.roofline import Work


def work_of(problem: Problem, case: Case, dtype: str) -> Work:
    """The work of every call of a case."""
    sizes = {parameter.name: parameter.dtype.itemsize for parameter in problem.parameters}
    shapes = problem.output_shapes(case)
    written = float(sum(math.prod(shape) * sizes[name] for name, shape in shapes.items()))
    read = max(0.0, problem.bytes(case) - written)
    return Work(read, written, problem.flops(case), dtype, flops_are_least=problem.fixed_algorithm)
