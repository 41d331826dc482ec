"""Image thresholding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.images import PIXELS
from problems.kit.cases import CaseTemplate
from problems.kit.chaining import ROLL, ChainRule
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.distributions import spike_places
from problems.kit.domain import Domain
from problems.kit.rounding import EXACT

_WHITE = 255.0


_case = CaseTemplate("{height}x{width}, threshold={threshold_value}, uniform")


class Threshold(Problem):
    """White above the threshold, black below."""

    slug = "threshold"
    title = "Image Thresholding"
    domains: ClassVar[Mapping[str, Domain]] = {"input_image": PIXELS}
    difficulty = Difficulty.EASY
    tags = ("image", "element-wise")
    signature = "const float* input_image, float threshold_value, float* output_image, size_t height, size_t width"
    chain: ClassVar[Mapping[str, ChainRule]] = {"input_image": ROLL}
    outputs: ClassVar[Mapping[str, Initial]] = {"output_image": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input_image": "height, width", "output_image": "height, width"}
    tolerance = EXACT
    sizes = Sizes(
        cpu=(_case(192, 256, 64.0), _case(255, 333, 128.0), _case(1, 1031, 192.0), _case(360, 240, 64.0)),
        gpu=tuple(
            _case(height, width, threshold)
            for height, width in ((1024, 768), (1920, 1080), (3840, 2160))
            for threshold in (64.0, 128.0, 192.0)
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides = (127, 191, 257, 333) if size_set is SizeSet.CPU else (769, 1079, 1921, 2161)
        return _case.draw(rng, sides, sides, (32.0, 100.0, 200.0))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        height, width, threshold = case["height"], case["width"], case["threshold_value"]
        values = _pixels(height * width, rng)
        # Next to the threshold, where half precision would round to it; never at it.
        places = spike_places(values.size, rng)
        towards = rng.choice((0.0, _WHITE), places.size).astype(np.float32)
        values[places] = np.nextafter(np.float32(threshold), towards)
        values[values == threshold] = 0.0
        return {"input_image": values.reshape(height, width), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output_image": np.where(inputs["input_image"] > inputs["threshold_value"], _WHITE, 0.0)}

    def flops(self, case: Case) -> float:
        return float(case["height"] * case["width"])


def _pixels(count: int, rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.random(count, np.float32) * np.float32(_WHITE)


PROBLEM = Threshold()
