"""Log-softmax of the rows of a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, scaled
from problems.kit.parts import some_pieces, within

_SCALE = 3.0


_case = CaseTemplate("{M}x{N}, {distribution}")


class LogSoftmax(Problem):
    """`x - log(sum of exp(x))`, along the rows."""

    slug = "log-softmax"
    title = "Log Softmax"
    difficulty = Difficulty.EASY
    tags = ("reduction", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input, float* output, size_t M, size_t N"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input": "M, N", "output": "M, N"}
    nondeterministic = True
    tolerance = Tolerance(
        4.0,
        "4 units of eps * (|y| + |x| + |max x| + sqrt(n)): the differences round, a fast exponential may take x off by "
        "an eps of itself, and the sum of n terms may be added in any order.",
    )
    sizes = Sizes(
        cpu=(
            _case(32, 1024, Distribution.NORMAL),
            _case(65, 509, Distribution.WIDE),
            _case(3, 4099, Distribution.UNIFORM),
            _case(251, 64, Distribution.SMALL),
        ),
        gpu=(
            _case(4096, 4096, Distribution.NORMAL),
            _case(6144, 4096, Distribution.UNIFORM),
            _case(4096, 7168, Distribution.WIDE),
            _case(4096, 8192, Distribution.SMALL),
            _case(8192, 8192, Distribution.NORMAL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (3, 31, 127), (61, 513, 1021), Distribution)
        return _case.draw(rng, (4093, 4099), (4091, 8209), Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"input": scaled(self.sampled("input", case, rng, spike=4.0), _SCALE), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        x = inputs["input"].astype(np.float64)
        above = x - x.max(axis=1, keepdims=True)
        return {"output": above - np.log(np.exp(above).sum(axis=1, keepdims=True))}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        x = inputs["input"].astype(np.float64)
        largest = np.abs(x.max(axis=1, keepdims=True))
        return {"output": np.abs(expected["output"]) + np.abs(x) + largest + sqrt(x.shape[1])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        rows = some_pieces(case["M"], case["N"], rng)
        return None if rows is None else Part(case, dict.fromkeys(("input", "output"), within(rows, case["N"])))

    def flops(self, case: Case) -> float:
        return 5.0 * case["M"] * case["N"]


PROBLEM = LogSoftmax()
