"""The sum over a sliding window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY, Domain
from problems.kit.rounding import SUM, sum_condition

_case = CaseTemplate("N={N}, W={W}, {distribution}")


class RunningSum1d(Problem):
    """The sum of the W elements around each, those beyond the ends being 0."""

    slug = "running-sum-1d"
    title = "1D Running Sum"
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY}
    difficulty = Difficulty.EASY
    tags = ("scan", "convolution")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input, size_t W, float* output, size_t N"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input": "N", "output": "N"}
    nondeterministic = True
    tolerance = SUM
    sizes = Sizes(
        cpu=(
            _case(16_384, 127, Distribution.NORMAL),
            _case(10_007, 511, Distribution.POSITIVE),
            _case(8_191, 63, Distribution.WIDE),
            _case(777, 1_021, Distribution.SMALL),
        ),
        gpu=(
            _case(65_536, 8_191, Distribution.NORMAL),
            _case(32_768, 8_191, Distribution.POSITIVE),
            _case(131_072, 8_191, Distribution.WIDE),
            _case(524_288, 8_191, Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (1_009, 5_003, 8_193), (1, 61, 255), Distribution)
        return _case.draw(rng, (65_537, 99_991, 262_147), (4_095, 8_189), Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"input": self.sampled("input", case, rng, spike=64.0), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": _sums(inputs["input"].astype(np.float64), case["W"])}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = _sums(np.abs(inputs["input"]).astype(np.float64), case["W"])
        return {"output": sum_condition(absolute, case["W"])}

    def flops(self, case: Case) -> float:
        # One addition and one subtraction as the window moves on.
        return 2.0 * case["N"]


def _sums(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """By differences of prefix sums, whose errors in fp64 are far below any in fp32."""
    prefix = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(values.size)
    first = np.maximum(places - window // 2, 0)
    return prefix[np.minimum(places + window // 2 + 1, values.size)] - prefix[first]


PROBLEM = RunningSum1d()
