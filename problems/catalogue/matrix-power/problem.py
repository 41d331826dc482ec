"""Powers of a square matrix."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import hidden_lengths
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, root_mean_square, scaled

_case = CaseTemplate("{size}x{size} power={n}, {distribution}")


class MatrixPower(Problem):
    """`A` multiplied with itself, n factors in all."""

    slug = "matrix-power"
    title = "Matrix Power"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    signature = "const float* input_matrix, const size_t n, float* output_matrix, size_t size"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_matrix": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"input_matrix": "size, size", "output_matrix": "size, size"}
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * sqrt(size) * (n - 1) * (the largest of |A^j| |A^(n - j)|, 0 < j < n): n - 1 products at "
        "most, each a sum in any order, the errors of which later ones carry on; the factors' norms are about 1.",
    )
    sizes = Sizes(
        cpu=(
            _case(64, 2, Distribution.UNIFORM),
            _case(97, 4, Distribution.NORMAL),
            _case(33, 8, Distribution.UNIFORM),
            _case(65, 3, Distribution.NORMAL),
        ),
        gpu=tuple(
            _case(size, power, Distribution.NORMAL if power == 4 else Distribution.UNIFORM)  # noqa: PLR2004 - of the three
            for size in (512, 1024, 2048)
            for power in (2, 4, 8)
        ),
    )
    time_limit_seconds = 20.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        power = int(rng.choice((2, 3, 4, 5, 8)))
        return _case(hidden_lengths(size_set, rng, 1)[0], power, Distribution.NORMAL)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        values = self.sampled("input_matrix", case, rng, spike=4.0)
        # Eigenvalues of up to about 1, so that no power of them vanishes or grows.
        matrix = scaled(values, 1.0 / (sqrt(case["size"]) * root_mean_square(values)))
        return {"input_matrix": matrix, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output_matrix": np.linalg.matrix_power(inputs["input_matrix"].astype(np.float64), inputs["n"])}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        # The bound needs no more than single precision.
        matrix, n = inputs["input_matrix"], inputs["n"]
        powers = [matrix]
        while len(powers) < n - 1:
            powers.append(powers[-1] @ matrix)
        splits = [np.abs(powers[j]) @ np.abs(powers[n - 2 - j]) for j in range(n // 2)]
        largest = np.max(splits, axis=0).astype(np.float64)
        return {"output_matrix": largest * ((n - 1) * sqrt(case["size"]))}

    def flops(self, case: Case) -> float:
        # The products of repeated squaring.
        n = case["n"]
        products = int(log2(n)) + n.bit_count() - 1
        return 2.0 * products * case["size"] ** 3


PROBLEM = MatrixPower()
