"""Box blur: the mean of each pixel's surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.images import PIXELS, Light, draw_image, hidden_image
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.domain import Domain

_case = CaseTemplate("{height}x{width}, kernel={kernel_size}x{kernel_size}, {light}")


class BoxBlur(Problem):
    """The mean of the pixels of a square that lie in the image."""

    slug = "box-blur"
    title = "Box Blur"
    domains: ClassVar[Mapping[str, Domain]] = {"input_image": PIXELS}
    difficulty = Difficulty.EASY
    tags = ("image", "convolution")
    signature = "const float* input_image, int kernel_size, float* output_image, size_t height, size_t width"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_image": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input_image": "height, width", "output_image": "height, width"}
    tolerance = Tolerance(
        2.0,
        "2 units of eps * sqrt(n + height + width) * (the image's largest pixel): the mean of n pixels added in fp32 "
        "in any order errs by sqrt(n) roundings, and one that slides along columns and rows by one more for each step.",
    )
    sizes = Sizes(
        cpu=(
            _case(192, 256, 15, Light.EVEN),
            _case(257, 131, 3, Light.DARK),
            _case(199, 173, 21, Light.SOFT),
            _case(64, 61, 27, Light.EVEN),
        ),
        gpu=(
            _case(1920, 1080, 15, Light.EVEN),
            _case(1920, 1080, 21, Light.SOFT),
            _case(1920, 1080, 27, Light.DARK),
            _case(2048, 2048, 15, Light.SOFT),
            _case(2048, 2048, 21, Light.DARK),
            _case(2048, 2048, 27, Light.EVEN),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        height, width, light = hidden_image(size_set, rng)
        return _case(height, width, int(rng.choice((3, 5, 7, 15, 27))), light)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        image = draw_image(case["light"], (case["height"], case["width"]), rng)
        return {"input_image": image, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        reach = case["kernel_size"] // 2
        total, pixels = inputs["input_image"].astype(np.float64), np.ones((1, 1))
        for axis in range(2):
            total = _boxes(total, reach, axis)
            side = [1, 1]
            side[axis] = inputs["input_image"].shape[axis]
            pixels = pixels * _boxes(np.ones(side), reach, axis)
        return {"output_image": total / pixels}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        del expected
        roundings = case["kernel_size"] ** 2 + case["height"] + case["width"]
        return {"output_image": np.array(sqrt(roundings) * float(inputs["input_image"].max()))}

    def flops(self, case: Case) -> float:
        # Sums that slide: an addition and a subtraction along either side, and the division.
        return 5.0 * case["height"] * case["width"]


def _boxes(values: NDArray[np.float64], reach: int, axis: int) -> NDArray[np.float64]:
    """The sum of the values up to `reach` away on either side, as far as there are any."""
    length = values.shape[axis]
    widths = [(1, 0) if at == axis else (0, 0) for at in range(values.ndim)]
    running = np.pad(np.cumsum(values, axis), widths)
    ends = np.array([min(at + reach + 1, length) for at in range(length)])
    starts = np.array([max(at - reach, 0) for at in range(length)])
    return np.take(running, ends, axis) - np.take(running, starts, axis)


PROBLEM = BoxBlur()
