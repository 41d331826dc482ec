"""Matrix-vector product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.parts import some_pieces, within
from problems.kit.rounding import SUM, sum_condition

_case = CaseTemplate("M={m}, K={k}, {distribution}")


class MatrixVector(Problem):
    """`c = A b`."""

    slug = "matrix-vector"
    title = "Matrix Vector Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"input_a": ANY_SCALE, "input_b": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("linear-algebra", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input_a, const float* input_b, float* output_c, size_t m, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_c": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"input_a": "m, k", "input_b": "k", "output_c": "m"}
    nondeterministic = True
    tolerance = SUM
    sizes = Sizes(
        cpu=(
            _case(512, 512, Distribution.UNIFORM),
            _case(257, 1021, Distribution.WIDE),
            _case(1023, 63, Distribution.SMALL),
            _case(65, 4096, Distribution.POSITIVE),
        ),
        gpu=(
            _case(4096, 4096, Distribution.UNIFORM),
            _case(6144, 4096, Distribution.WIDE),
            _case(7168, 4096, Distribution.POSITIVE),
            _case(8192, 4096, Distribution.SMALL),
            _case(9216, 4096, Distribution.NORMAL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        rows, columns = ((127, 509), (129, 643)) if size_set is SizeSet.CPU else ((4093, 8191), (4097, 6151))
        distribution = any_distribution(rng)
        return _case(int(rng.choice(rows)), int(rng.choice(columns)), distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        vector = self.sampled("input_b", case, rng, spike=1.0)
        return {"input_a": self.sampled("input_a", case, rng), "input_b": vector, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output_c": inputs["input_a"].astype(np.float64) @ inputs["input_b"].astype(np.float64)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = np.abs(inputs["input_a"]).astype(np.float64) @ np.abs(inputs["input_b"]).astype(np.float64)
        return {"output_c": sum_condition(absolute, case["k"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        rows = some_pieces(case["m"], case["k"], rng)
        return None if rows is None else Part(case, {"input_a": within(rows, case["k"]), "output_c": rows})

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["k"]


PROBLEM = MatrixVector()
