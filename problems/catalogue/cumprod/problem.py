"""Cumulative product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.chaining import SIGNS, ChainRule
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance

_NEGATIVE = 0.01
"""The share of factors below 0."""
_KINDS = {"close to 1": 0.02, "wide": 0.1}
"""How far the logarithms of the products wander, to either side. Products of any other choice of factors, as of every
256th, wander like sqrt(N) times that, and must not overflow either."""


_case = CaseTemplate("N={N}, {kind}")


class Cumprod(Problem):
    """The inclusive prefix product."""

    slug = "cumprod"
    title = "Cumulative Product"
    difficulty = Difficulty.MEDIUM
    tags = ("scan",)
    signature = "const float* input, float* output, size_t N"
    chain: ClassVar[Mapping[str, ChainRule]] = {"input": SIGNS}
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input": "N", "output": "N"}
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * sqrt(i + 1) * |product|: each of the products up to i rounds once, in any order; a sum's "
        "rule.",
    )
    sizes = Sizes(
        cpu=(
            _case(65_536, "close to 1"),
            _case(100_003, "wide"),
            _case(131_071, "close to 1"),
            _case(1_025, "wide"),
        ),
        gpu=(
            _case(65_536, "close to 1"),
            _case(131_072, "wide"),
            _case(262_144, "close to 1"),
            _case(524_288, "wide"),
            _case(1_048_576, "close to 1"),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (1_023, 32_771, 65_535, 99_991), _KINDS)
        return _case.draw(rng, (65_537, 262_147, 1_048_573), _KINDS)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        # Quotients of neighbours in a bounded series, so that no product of them overflows or vanishes.
        n, reach = case["N"], _KINDS[case["kind"]]
        logarithms = _bounded(n + 1, reach, rng)
        factors = np.exp(np.diff(logarithms))
        factors[rng.random(n) < _NEGATIVE] *= -1.0
        return {"input": factors.astype(np.float32), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": np.cumprod(inputs["input"], dtype=np.float64)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = np.abs(expected["output"])
        return {"output": absolute * np.sqrt(np.arange(1.0, absolute.size + 1.0))}

    def flops(self, case: Case) -> float:
        return float(case["N"])


def _bounded(count: int, reach: float, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.uniform(-reach, reach, count)


PROBLEM = Cumprod()
