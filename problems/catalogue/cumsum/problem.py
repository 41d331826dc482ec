"""Cumulative sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE, Domain

_case = CaseTemplate("N={N}, {distribution}")


class Cumsum(Problem):
    """The inclusive prefix sum."""

    slug = "cumsum"
    title = "Cumulative Sum"
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY_SCALE}
    difficulty = Difficulty.MEDIUM
    tags = ("scan",)
    signature = "const float* input, float* output, size_t N"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input": "N", "output": "N"}
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * sqrt(i + 1) * (sum of the absolute values up to i): any order of fp32 additions, also one "
        "running sum.",
    )
    sizes = Sizes(
        cpu=(
            _case(65_536, Distribution.NORMAL),
            _case(100_003, Distribution.POSITIVE),
            _case(131_071, Distribution.WIDE),
            _case(1_025, Distribution.SMALL),
        ),
        gpu=(
            _case(65_536, Distribution.NORMAL),
            _case(131_072, Distribution.POSITIVE),
            _case(262_144, Distribution.WIDE),
            _case(524_288, Distribution.SMALL),
            _case(1_048_576, Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (1_023, 32_771, 65_535, 99_991), Distribution)
        return _case.draw(rng, (65_537, 262_147, 1_048_573), Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"input": self.sampled("input", case, rng, spike=64.0), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": np.cumsum(inputs["input"], dtype=np.float64)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = np.cumsum(np.abs(inputs["input"]), dtype=np.float64)
        return {"output": absolute * np.sqrt(np.arange(1.0, absolute.size + 1.0))}

    def flops(self, case: Case) -> float:
        return float(case["N"])


PROBLEM = Cumsum()
