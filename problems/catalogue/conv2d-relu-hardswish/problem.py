"""2D convolution, then ReLU, then hard swish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.correlation import correlate, correlation_part
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.rounding import sum_condition

_STEEPEST = 1.5
"""The largest slope of r * min(r + 3, 6) / 6, just below r = 3."""

_LATER_ROUNDINGS = 2.0
"""An addition, a product and a division by 6 or a product with its reciprocal: four units of the result at most."""


_case = CaseTemplate("H={H}, W={W}, Kh={Kh}, Kw={Kw}, {distribution}")


class Conv2dReluHardswish(Problem):
    """An image under a sliding filter of odd sides, and what two activations make of it."""

    slug = "conv2d-relu-hardswish"
    title = "2D Convolution, ReLU and Hard Swish"
    difficulty = Difficulty.MEDIUM
    tags = ("convolution", "activation", "fusion")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* image, const float* kernel, float* output, size_t H, size_t W, size_t Kh, size_t Kw"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"image": "H, W", "kernel": "Kh, Kw", "output": "H, W"}
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (1.5 * sqrt(n) * (sum of the n products' absolute values) + 2 * |expected|): any order of "
        "fp32 additions, passed on by the activations' steepest slope, and four roundings after them.",
    )
    sizes = Sizes(
        cpu=(
            _case(192, 256, 5, 5, Distribution.UNIFORM),
            _case(127, 131, 9, 9, Distribution.NORMAL),
            _case(97, 61, 3, 7, Distribution.POSITIVE),
            _case(161, 67, 13, 13, Distribution.SMALL),
        ),
        gpu=(
            _case(512, 512, 3, 3, Distribution.UNIFORM),
            _case(1024, 1024, 5, 5, Distribution.POSITIVE),
            _case(2048, 2048, 7, 7, Distribution.NORMAL),
            _case(512, 512, 9, 9, Distribution.SMALL),
            _case(1024, 1024, 11, 11, Distribution.WIDE),
            _case(2048, 2048, 13, 13, Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides, taps = (61, 97, 129, 193), (1, 3, 7, 11)
        if size_set is SizeSet.GPU:
            sides, taps = (509, 1021, 1031, 2047), (3, 7, 9, 13)
        return _case.draw(rng, sides, sides, taps, taps, Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        image, kernel = self.sampled("image", case, rng), self.sampled("kernel", case, rng, spike=1.0)
        return {"image": image, "kernel": kernel, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        rectified = np.maximum(correlate(inputs["image"], inputs["kernel"], case.values.get("inside")), 0.0)
        return {"output": rectified * np.minimum(rectified + 3.0, 6.0) / 6.0}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        absolute = np.abs(correlate(np.abs(inputs["image"]), np.abs(inputs["kernel"]), case.values.get("inside")))
        of_sum = sum_condition(absolute, case["Kh"] * case["Kw"])
        return {"output": _STEEPEST * of_sum + _LATER_ROUNDINGS * np.abs(expected["output"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        (shape,) = self.output_shapes(case).values()
        return correlation_part(case, ("image", "output"), shape, (case["Kh"], case["Kw"]), rng)

    def flops(self, case: Case) -> float:
        pixels = case["H"] * case["W"]
        return pixels * (2.0 * case["Kh"] * case["Kw"] + 5.0)


PROBLEM = Conv2dReluHardswish()
