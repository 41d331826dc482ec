"""2D convolution, then ReLU, then hard swish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.families.correlation import correlate, correlation_part
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.rounding import sum_condition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_STEEPEST = 1.5
"""The largest slope of r * min(r + 3, 6) / 6, just below r = 3."""

_LATER_ROUNDINGS = 2.0
"""An addition, a product and a division by 6 or a product with its reciprocal: four units of the result at most."""


def _case(image: tuple[int, int], taps: tuple[int, int], distribution: Distribution) -> Case:
    sizes = {"H": image[0], "W": image[1], "Kh": taps[0], "Kw": taps[1]}
    labels = [f"{name}={size}" for name, size in sizes.items()]
    return Case(", ".join([*labels, distribution.value]), {**sizes, "distribution": distribution})


class Conv2dReluHardswish(Problem):
    """An image under a sliding filter of odd sides, and what two activations make of it."""

    slug = "conv2d-relu-hardswish"
    title = "2D Convolution, ReLU and Hard Swish"
    difficulty = Difficulty.MEDIUM
    tags = ("convolution", "activation", "fusion")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* image, const float* kernel, float* output, size_t H, size_t W, size_t Kh, size_t Kw"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (1.5 * sqrt(n) * (sum of the n products' absolute values) + 2 * |expected|): any order of "
        "fp32 additions, passed on by the activations' steepest slope, and four roundings after them.",
    )
    sizes = Sizes(
        cpu=(
            _case((192, 256), (5, 5), Distribution.UNIFORM),
            _case((127, 131), (9, 9), Distribution.NORMAL),
            _case((97, 61), (3, 7), Distribution.POSITIVE),
            _case((161, 67), (13, 13), Distribution.SMALL),
        ),
        gpu=(
            _case((512, 512), (3, 3), Distribution.UNIFORM),
            _case((1024, 1024), (5, 5), Distribution.POSITIVE),
            _case((2048, 2048), (7, 7), Distribution.NORMAL),
            _case((512, 512), (9, 9), Distribution.SMALL),
            _case((1024, 1024), (11, 11), Distribution.WIDE),
            _case((2048, 2048), (13, 13), Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides, taps = (61, 97, 129, 193), (1, 3, 7, 11)
        if size_set is SizeSet.GPU:
            sides, taps = (509, 1021, 1031, 2047), (3, 7, 9, 13)
        height, width = (int(side) for side in rng.choice(sides, 2))
        return _case((height, width), (int(rng.choice(taps)), int(rng.choice(taps))), any_distribution(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        sizes = {name: case[name] for name in ("H", "W", "Kh", "Kw")}
        distribution = case["distribution"]
        image = self.sample(distribution, (sizes["H"], sizes["W"]), rng)
        return {
            "image": image,
            "kernel": self.sample(distribution, (sizes["Kh"], sizes["Kw"]), rng, spike=1.0),
            **sizes,
        }

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"output": (case["H"], case["W"])}

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

    def bytes(self, case: Case) -> float:
        return 4.0 * (2 * case["H"] * case["W"] + case["Kh"] * case["Kw"])


PROBLEM = Conv2dReluHardswish()
