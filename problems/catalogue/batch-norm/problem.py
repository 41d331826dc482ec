"""Batch normalization."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.normalization import standardized, standardized_condition
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.parts import some_pieces, within

_AXES = (0, 2, 3)
_KINDS = (Distribution.NORMAL, Distribution.UNIFORM, Distribution.POSITIVE, Distribution.LARGE)


_case = CaseTemplate("B={B}, F={F}, D1={D1}, D2={D2}, {distribution}")


class BatchNorm(Problem):
    """Each of F features is brought to mean 0 and variance 1 over all items and places."""

    slug = "batch-norm"
    title = "Batch Normalization"
    difficulty = Difficulty.MEDIUM
    tags = ("normalization", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* X, float* Y, size_t B, size_t F, size_t D1, size_t D2"
    outputs: ClassVar[Mapping[str, Initial]] = {"Y": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"X": "B, F, D1, D2", "Y": "B, F, D1, D2"}
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * r * (|x - mean| + sqrt(n) * mean|x| + sqrt(n) * |x - mean| * r^2 * mean(x^2)), r = 1 / "
        "sqrt(variance + 1e-5): any order of the two sums of n terms, also of E[x^2] - E[x]^2.",
    )
    sizes = Sizes(
        cpu=(
            _case(4, 8, 32, 32, Distribution.NORMAL),
            _case(3, 7, 31, 17, Distribution.POSITIVE),
            _case(16, 3, 16, 16, Distribution.UNIFORM),
            _case(2, 2, 63, 65, Distribution.LARGE),
        ),
        gpu=(
            _case(16, 64, 256, 256, Distribution.NORMAL),
            _case(32, 128, 128, 128, Distribution.UNIFORM),
            _case(8, 256, 64, 64, Distribution.POSITIVE),
            _case(4, 32, 512, 512, Distribution.LARGE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (1, 3, 5), (3, 11, 13), (19, 31, 33), (19, 31, 33), _KINDS)
        return _case.draw(rng, (3, 7, 17), (61, 127, 129), (63, 127, 255), (63, 127, 255), _KINDS)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"X": self.sampled("X", case, rng, spike=16.0), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"Y": standardized(inputs["X"].astype(np.float64), _AXES)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        return {"Y": standardized_condition(inputs["X"].astype(np.float64), _AXES)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        items, features, *sides = self.output_shapes(case)["Y"]
        chosen = some_pieces(features, items * prod(sides), rng)
        if chosen is None:
            return None
        places = np.arange(items)[:, None, None, None] * (features * prod(sides)) + within(chosen, *sides)
        return Part(case, dict.fromkeys("XY", places))

    def flops(self, case: Case) -> float:
        return 6.0 * prod(self.output_shapes(case)["Y"])


PROBLEM = BatchNorm()
