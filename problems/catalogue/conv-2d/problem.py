"""2D convolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.correlation import correlate, correlation_part
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.rounding import SUM, sum_condition

_case = CaseTemplate("H={H}, W={W}, Kh={Kh}, Kw={Kw}, {distribution}")


class Conv2d(Problem):
    """An image under a sliding filter of odd sides."""

    slug = "conv-2d"
    title = "2D Convolution"
    domains: ClassVar[Mapping[str, Domain]] = {"A": ANY_SCALE, "B": ANY_SCALE}
    difficulty = Difficulty.MEDIUM
    tags = ("convolution", "image")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float* C, size_t H, size_t W, size_t Kh, size_t Kw"
    outputs: ClassVar[Mapping[str, Initial]] = {"C": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "H, W", "B": "Kh, Kw", "C": "H, W"}
    nondeterministic = True
    tolerance = SUM
    sizes = Sizes(
        cpu=(
            _case(192, 256, 5, 5, Distribution.UNIFORM),
            _case(127, 131, 9, 9, Distribution.WIDE),
            _case(97, 61, 3, 17, Distribution.POSITIVE),
            _case(33, 29, 31, 31, Distribution.SMALL),
        ),
        gpu=(
            _case(4096, 4096, 9, 9, Distribution.UNIFORM),
            _case(8192, 8192, 11, 11, Distribution.POSITIVE),
            _case(16_384, 16_384, 13, 13, Distribution.WIDE),
            _case(1024, 1024, 31, 31, Distribution.SMALL),
            _case(2048, 2048, 63, 63, Distribution.UNIFORM),
            _case(4096, 4096, 127, 127, Distribution.NORMAL),
        ),
    )
    time_limit_seconds = 20.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides, taps = (61, 97, 129, 193), (1, 3, 7, 11)
        if size_set is SizeSet.GPU:
            sides, taps = (1021, 2049, 3001, 4093), (7, 9, 15, 33)
        return _case.draw(rng, sides, sides, taps, taps, Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        a, b = self.sampled("A", case, rng), self.sampled("B", case, rng, spike=1.0)
        return {"A": a, "B": b, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"C": correlate(inputs["A"], inputs["B"], case.values.get("inside"))}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = correlate(np.abs(inputs["A"]), np.abs(inputs["B"]), case.values.get("inside"))
        return {"C": sum_condition(np.abs(absolute), case["Kh"] * case["Kw"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        (shape,) = self.output_shapes(case).values()
        return correlation_part(case, ("A", "C"), shape, (case["Kh"], case["Kw"]), rng)

    def flops(self, case: Case) -> float:
        return 2.0 * case["H"] * case["W"] * case["Kh"] * case["Kw"]


PROBLEM = Conv2d()
