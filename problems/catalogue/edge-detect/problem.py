"""Edge detection: the size of the gradient, stretched to 255."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.images import BRIGHTEST, PIXELS, Light, draw_image, hidden_image, image_case
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.domain import Domain


class EdgeDetect(Problem):
    """The gradient by central differences, over the largest in the image."""

    slug = "edge-detect"
    title = "Edge Detection"
    domains: ClassVar[Mapping[str, Domain]] = {"input_image": PIXELS}
    difficulty = Difficulty.EASY
    tags = ("image", "reduction")
    signature = "const float* input_image, float* output_image, size_t height, size_t width"
    outputs: ClassVar[Mapping[str, Initial]] = {"output_image": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"input_image": "height, width", "output_image": "height, width"}
    tolerance = Tolerance(
        8.0,
        "8 units of eps * |expected|: four for the roundings of a size and of the largest one, and two each for a fast "
        "square root and a fast division.",
    )
    sizes = Sizes(
        cpu=(
            image_case(256, 192, Light.EVEN),
            image_case(257, 131, Light.DARK),
            image_case(199, 347, Light.SOFT),
            # So narrow that the last tile has more than the edge in it, which is 0 as the output was.
            image_case(4099, 13, Light.EVEN),
        ),
        gpu=(
            image_case(1024, 768, Light.EVEN),
            image_case(1920, 1080, Light.SOFT),
            image_case(2048, 2048, Light.DARK),
            image_case(2560, 1440, Light.SOFT),
            image_case(4096, 4096, Light.EVEN),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return image_case(*hidden_image(size_set, rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        image = draw_image(case["light"], (case["height"], case["width"]), rng)
        return {"input_image": image, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        image = inputs["input_image"].astype(np.float64)
        gradient = np.zeros_like(image)
        across = image[1:-1, 2:] - image[1:-1, :-2]
        down = image[2:, 1:-1] - image[:-2, 1:-1]
        gradient[1:-1, 1:-1] = np.sqrt((across / 2) ** 2 + (down / 2) ** 2)
        largest = gradient.max()
        return {"output_image": gradient / largest * BRIGHTEST if largest > 0 else gradient}

    def flops(self, case: Case) -> float:
        return 10.0 * (case["height"] - 2) * (case["width"] - 2)


PROBLEM = EdgeDetect()
