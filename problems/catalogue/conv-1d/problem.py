"""1D convolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.correlation import correlate
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.rounding import SUM, sum_condition

_case = CaseTemplate("N={N}, K={K}, {distribution}")


class Conv1d(Problem):
    """A signal under a sliding filter of odd length."""

    slug = "conv-1d"
    title = "1D Convolution"
    domains: ClassVar[Mapping[str, Domain]] = {"A": ANY_SCALE, "B": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("convolution",)
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float* C, size_t N, size_t K"
    outputs: ClassVar[Mapping[str, Initial]] = {"C": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "N", "B": "K", "C": "N"}
    nondeterministic = True
    tolerance = SUM
    sizes = Sizes(
        cpu=(
            _case(16_384, 63, Distribution.UNIFORM),
            _case(10_007, 101, Distribution.WIDE),
            _case(4_096, 511, Distribution.POSITIVE),
            _case(257, 1_023, Distribution.SMALL),
        ),
        gpu=(
            _case(65_536, 8_191, Distribution.UNIFORM),
            _case(32_768, 8_191, Distribution.POSITIVE),
            _case(131_072, 8_191, Distribution.WIDE),
            _case(524_288, 8_191, Distribution.SMALL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths, filters = (8_191, 9_973, 12_289), (31, 97, 129)
        if size_set is SizeSet.GPU:
            lengths, filters = (65_537, 99_991, 131_071), (4_095, 8_191, 8_193)
        distribution = any_distribution(rng)
        return _case(int(rng.choice(lengths)), int(rng.choice(filters)), distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        a, b = self.sampled("A", case, rng), self.sampled("B", case, rng, spike=1.0)
        return {"A": a, "B": b, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"C": correlate(inputs["A"], inputs["B"])}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = correlate(np.abs(inputs["A"]), np.abs(inputs["B"]))
        return {"C": sum_condition(np.abs(absolute), case["K"])}

    def flops(self, case: Case) -> float:
        return 2.0 * case["N"] * case["K"]


PROBLEM = Conv1d()
