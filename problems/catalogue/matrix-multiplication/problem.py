"""Matrix multiplication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.factors import Factors
from problems.kit.parts import grid, some_tile, within
from problems.kit.rounding import SUM, sum_condition

_case = CaseTemplate("{m}x{k} x {k}x{n}, {distribution}")


class MatrixMultiplication(Problem):
    """`C = A B` with A of m x k, B of k x n."""

    slug = "matrix-multiplication"
    title = "Matrix Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"input_a": ANY_SCALE, "input_b": ANY_SCALE}
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_c": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"input_a": "m, k", "input_b": "k, n", "output_c": "m, n"}
    nondeterministic = True
    tolerance = SUM
    sizes = Sizes(
        cpu=(
            _case(128, 128, 128, Distribution.UNIFORM),
            _case(256, 160, 192, Distribution.NORMAL),
            _case(127, 93, 65, Distribution.WIDE),
            _case(1, 257, 129, Distribution.SMALL),
        ),
        gpu=(
            _case(4096, 4096, 4096, Distribution.UNIFORM),
            _case(8192, 8192, 4096, Distribution.NORMAL),
            _case(4096, 4096, 8192, Distribution.WIDE),
            _case(8192, 8192, 8192, Distribution.UNIFORM),
        ),
    )
    time_limit_seconds = 20.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths = (61, 97, 131, 193) if size_set is SizeSet.CPU else (2049, 3001, 4093, 4100)
        m, n, k = (int(length) for length in rng.choice(lengths, 3))
        return _case(m, k, n, any_distribution(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        a, b = (self.sampled(name, case, rng) for name in ("input_a", "input_b"))
        return {"input_a": a, "input_b": b, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output_c": inputs["input_a"].astype(np.float64) @ inputs["input_b"].astype(np.float64)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        # The bound needs no more than single precision: it is a sum of positive terms.
        absolute = np.abs(inputs["input_a"]) @ np.abs(inputs["input_b"])
        return {"output_c": sum_condition(absolute.astype(np.float64), case["k"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        (m, k), (_, n) = self.input_shapes(case).values()
        tile = some_tile(m, k, n, rng)
        if tile is None:
            return None
        places = {"input_a": within(tile.rows, k), "input_b": grid(np.arange(k), tile.columns, n)}
        return Part(case, {**places, "output_c": grid(tile.rows, tile.columns, n)})

    def factors(self, case: Case, inputs: Mapping[str, Any]) -> Factors:
        return Factors("output_c", inputs["input_a"], inputs["input_b"])

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["n"] * case["k"]


PROBLEM = MatrixMultiplication()
