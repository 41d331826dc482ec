"""Histogram of an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.chaining import ChainRule, integers
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.rounding import EXACT

_case = CaseTemplate("{height}x{width}, bins={num_bins}, {values}")


class Histogram(Problem):
    """How many pixels fall into each bin."""

    slug = "histogram"
    title = "Histogram"
    difficulty = Difficulty.EASY
    tags = ("image", "atomics")
    signature = "const float* image, int num_bins, float* histogram, size_t height, size_t width"
    chain: ClassVar[Mapping[str, ChainRule]] = {"image": integers(0, 10)}
    outputs: ClassVar[Mapping[str, Initial]] = {"histogram": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"image": "height, width", "histogram": "num_bins"}
    tolerance = EXACT
    sizes = Sizes(
        cpu=(
            _case(256, 384, 256, "whole"),
            _case(301, 257, 64, "fractional"),
            _case(512, 512, 128, "skewed"),
            _case(7, 4099, 10, "whole"),
        ),
        gpu=tuple(
            _case(height, width, num_bins, values)
            for height, width in ((2560, 1440), (3840, 2160), (4096, 4096))
            for num_bins, values in ((64, "whole"), (128, "skewed"), (256, "fractional"))
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths = (127, 211, 383, 509) if size_set is SizeSet.CPU else (1079, 1921, 2161, 4093)
        return _case.draw(rng, lengths, lengths, (31, 100, 255), ("whole", "fractional", "skewed"))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        num_bins = case["num_bins"]
        image = rng.random((case["height"], case["width"]), np.float32)
        if case["values"] == "skewed":
            image = image**4
        image = np.minimum(image * np.float32(num_bins), np.nextafter(np.float32(num_bins), np.float32(0)))
        if case["values"] == "whole":
            image = np.floor(image)
        return {"image": image, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        num_bins = case["num_bins"]
        bins = np.clip(np.floor(inputs["image"]), 0, num_bins - 1).astype(np.int64)
        return {"histogram": np.bincount(bins.reshape(-1), minlength=num_bins).astype(np.float64)}

    def flops(self, case: Case) -> float:
        return float(case["height"] * case["width"])


PROBLEM = Histogram()
