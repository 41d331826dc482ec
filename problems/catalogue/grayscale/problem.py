"""Grayscale: the brightness of a colour image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.images import PIXELS, Light, draw_image, hidden_image, image_case
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.domain import Domain

_WEIGHTS = np.array([0.299, 0.587, 0.114])
"""Of red, green and blue, as ITU-R BT.601 has them."""


class Grayscale(Problem):
    """A weighted sum of each pixel's red, green and blue."""

    slug = "grayscale"
    title = "Grayscale Conversion"
    domains: ClassVar[Mapping[str, Domain]] = {"rgb_image": PIXELS}
    difficulty = Difficulty.EASY
    tags = ("image", "element-wise")
    signature = "const float* rgb_image, float* grayscale_output, size_t height, size_t width, size_t channels"
    outputs: ClassVar[Mapping[str, Initial]] = {"grayscale_output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"rgb_image": "height, width, 3", "grayscale_output": "height, width"}
    tolerance = Tolerance(
        2.0,
        "2 units of eps * |expected|: half a unit each for a weight, a product and two additions of positive terms.",
    )
    sizes = Sizes(
        cpu=(
            image_case(192, 256, Light.EVEN),
            image_case(257, 301, Light.DARK),
            image_case(1, 4099, Light.SOFT),
        ),
        gpu=(
            image_case(512, 512, Light.EVEN),
            image_case(1024, 768, Light.DARK),
            image_case(1920, 1080, Light.SOFT),
            image_case(3840, 2160, Light.EVEN),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return image_case(*hidden_image(size_set, rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        image = draw_image(case["light"], self.input_shapes(case)["rgb_image"], rng)
        return {"rgb_image": image, "channels": 3, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"grayscale_output": inputs["rgb_image"].astype(np.float64) @ _WEIGHTS}

    def flops(self, case: Case) -> float:
        return 5.0 * case["height"] * case["width"]


PROBLEM = Grayscale()
