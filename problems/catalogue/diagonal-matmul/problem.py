"""A diagonal matrix times a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.parts import some_pieces, within

_case = CaseTemplate("{n} x {n}x{m}, {distribution}")


class DiagonalMatmul(Problem):
    """Each row of B times its element of the diagonal."""

    slug = "diagonal-matmul"
    title = "Diagonal Matrix Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"diagonal_a": ANY_SCALE, "input_b": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("linear-algebra", "element-wise")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* diagonal_a, const float* input_b, float* output_c, size_t n, size_t m"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_c": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"diagonal_a": "n", "input_b": "n, m", "output_c": "n, m"}
    tolerance = Tolerance(1.0, "1 unit of eps * |output|: one fp32 product, correctly rounded, errs by half of that.")
    sizes = Sizes(
        cpu=(
            _case(256, 256, Distribution.UNIFORM),
            _case(127, 509, Distribution.WIDE),
            _case(1021, 33, Distribution.SMALL),
            _case(64, 512, Distribution.NORMAL),
        ),
        gpu=(
            _case(2048, 2048, Distribution.UNIFORM),
            _case(4096, 4096, Distribution.WIDE),
            _case(6144, 6144, Distribution.NORMAL),
            _case(8192, 4096, Distribution.SMALL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides = (61, 127, 251, 333) if size_set is SizeSet.CPU else (2053, 4093, 6151)
        return _case.draw(rng, sides, sides, Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        diagonal, b = (self.sampled(name, case, rng, spike=64.0) for name in ("diagonal_a", "input_b"))
        return {"diagonal_a": diagonal, "input_b": b, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output_c": inputs["diagonal_a"].astype(np.float64)[:, None] * inputs["input_b"]}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        rows = some_pieces(case["n"], case["m"], rng)
        if rows is None:
            return None
        places = within(rows, case["m"])
        return Part(case, {"diagonal_a": rows, "input_b": places, "output_c": places})

    def flops(self, case: Case) -> float:
        return float(case["n"] * case["m"])


PROBLEM = DiagonalMatmul()
