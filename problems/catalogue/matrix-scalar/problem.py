"""A matrix times a scalar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.parts import some_elements

_case = CaseTemplate("{n}x{n} scalar={scalar:g}, {distribution}")


class MatrixScalar(Problem):
    """Every element of a square matrix times one number."""

    slug = "matrix-scalar"
    title = "Matrix Scalar Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"input_matrix": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("element-wise", "linear-algebra")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input_matrix, const float scalar, float* output_matrix, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_matrix": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input_matrix": "n, n", "output_matrix": "n, n"}
    tolerance = Tolerance(1.0, "1 unit of eps * |output|: one fp32 product, correctly rounded, errs by half of that.")
    sizes = Sizes(
        cpu=(
            _case(256, 0.1, Distribution.NORMAL),
            _case(257, -0.3, Distribution.WIDE),
            _case(63, 0.2, Distribution.SMALL),
            _case(384, -0.5, Distribution.UNIFORM),
        ),
        gpu=(
            _case(8192, 0.1, Distribution.NORMAL),
            _case(8192, 0.2, Distribution.WIDE),
            _case(8192, -0.3, Distribution.UNIFORM),
            _case(8192, 0.4, Distribution.SMALL),
            _case(8192, -0.5, Distribution.LARGE),
            _case(9216, 0.1, Distribution.NORMAL),
            _case(9216, 0.2, Distribution.WIDE),
            _case(9216, -0.3, Distribution.UNIFORM),
            _case(9216, 0.4, Distribution.SMALL),
            _case(9216, -0.5, Distribution.LARGE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides = (61, 127, 251, 257) if size_set is SizeSet.CPU else (4093, 8191, 9221)
        return _case.draw(rng, sides, (0.7, -1.3, 3.1), Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"input_matrix": self.sampled("input_matrix", case, rng), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output_matrix": inputs["input_matrix"].astype(np.float64) * inputs["scalar"]}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        places = some_elements(case["n"] ** 2, rng)
        return None if places is None else Part(case, {"input_matrix": places, "output_matrix": places})

    def flops(self, case: Case) -> float:
        return float(case["n"] ** 2)


PROBLEM = MatrixScalar()
