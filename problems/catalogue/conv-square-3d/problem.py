"""3D convolution of a cube."""

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

_case = CaseTemplate("D=H=W={size}, K={K}, {distribution}")


class ConvSquare3d(Problem):
    """A cube under a sliding cubic filter of odd side."""

    slug = "conv-square-3d"
    title = "3D Convolution of a Cube"
    domains: ClassVar[Mapping[str, Domain]] = {"A": ANY_SCALE, "B": ANY_SCALE}
    difficulty = Difficulty.HARD
    tags = ("convolution",)
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float* C, size_t size, size_t K"
    outputs: ClassVar[Mapping[str, Initial]] = {"C": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "size, size, size", "B": "K, K, K", "C": "size, size, size"}
    nondeterministic = True
    tolerance = SUM
    sizes = Sizes(
        cpu=(
            _case(48, 3, Distribution.UNIFORM),
            _case(31, 5, Distribution.WIDE),
            _case(37, 7, Distribution.POSITIVE),
            _case(13, 9, Distribution.SMALL),
        ),
        gpu=(
            _case(64, 3, Distribution.UNIFORM),
            _case(32, 9, Distribution.POSITIVE),
            _case(96, 11, Distribution.WIDE),
            _case(128, 5, Distribution.SMALL),
            _case(256, 7, Distribution.NORMAL),
            _case(512, 9, Distribution.UNIFORM),
        ),
    )
    time_limit_seconds = 20.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (17, 29, 33, 41), (1, 3, 5), Distribution)
        return _case.draw(rng, (61, 97, 127, 131), (3, 7, 9), Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        a, b = self.sampled("A", case, rng), self.sampled("B", case, rng, spike=1.0)
        return {"A": a, "B": b, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"C": correlate(inputs["A"], inputs["B"], case.values.get("inside"))}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = correlate(np.abs(inputs["A"]), np.abs(inputs["B"]), case.values.get("inside"))
        # By Fourier transform, the smallest of them may come out just below zero.
        return {"C": sum_condition(np.abs(absolute), case["K"] ** 3)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        (shape,) = self.output_shapes(case).values()
        return correlation_part(case, ("A", "C"), shape, (case["K"],) * 3, rng)

    def flops(self, case: Case) -> float:
        return 2.0 * case["size"] ** 3 * case["K"] ** 3


PROBLEM = ConvSquare3d()
