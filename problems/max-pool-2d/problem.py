"""2D max pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.distributions import Distribution, any_distribution, sample
from problems.rounding import EXACT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_WINDOW = {"kernel_size": "K", "stride": "S", "padding": "P", "dilation": "D"}


def _case(image: tuple[int, int], window: tuple[int, int, int, int], distribution: Distribution) -> Case:
    values = dict(zip(("H", "W", *_WINDOW), (*image, *window), strict=True))
    labels = [f"{_WINDOW.get(name, name)}={value}" for name, value in values.items()]
    return Case(", ".join([*labels, distribution.value]), {**values, "distribution": distribution})


class MaxPool2d(Problem):
    """The maximum of each window of an image."""

    slug = "max-pool-2d"
    title = "2D Max Pooling"
    difficulty = Difficulty.MEDIUM
    tags = ("pooling", "image")
    signature = (
        "const float* input, int kernel_size, int stride, int padding, int dilation, float* output, size_t H, size_t W"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    tolerance = EXACT
    sizes = Sizes(
        cpu=(
            _case((256, 384), (2, 2, 0, 1), Distribution.NORMAL),
            _case((257, 301), (3, 2, 1, 1), Distribution.WIDE),
            _case((129, 127), (3, 1, 1, 2), Distribution.SMALL),
            _case((200, 199), (7, 3, 3, 1), Distribution.UNIFORM),
        ),
        gpu=(
            _case((4096, 4096), (2, 2, 0, 1), Distribution.NORMAL),
            _case((8192, 8192), (3, 2, 1, 1), Distribution.WIDE),
            _case((16_384, 16_384), (4, 4, 2, 1), Distribution.UNIFORM),
            _case((2048, 2048), (5, 1, 2, 1), Distribution.SMALL),
            _case((4096, 4096), (3, 1, 2, 2), Distribution.NORMAL),
            _case((4096, 4096), (7, 3, 3, 1), Distribution.LARGE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        sides = (101, 193, 251, 307) if size_set is SizeSet.CPU else (2047, 4099, 5003, 8191)
        height, width = (int(side) for side in rng.choice(sides, 2))
        kernel = int(rng.integers(2, 6))
        stride, padding, dilation = (
            int(rng.integers(1, 4)),
            int(rng.integers(0, kernel // 2 + 1)),
            int(rng.choice((1, 2))),
        )
        distribution = any_distribution(rng)
        return _case((height, width), (kernel, stride, padding, dilation), distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        scalars = {name: case.values[name] for name in (*_WINDOW, "H", "W")}
        return {"input": sample(case.values["distribution"], (scalars["H"], scalars["W"]), rng), **scalars}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        kernel, stride, padding, dilation = (case.values[name] for name in _WINDOW)
        reach = dilation * (kernel - 1) + 1
        height, width = ((case.values[side] + 2 * padding - reach) // stride + 1 for side in ("H", "W"))
        return {"output": (height, width)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        kernel, stride, padding, dilation = (case.values[name] for name in _WINDOW)
        height, width = self.output_shapes(case)["output"]
        padded = np.pad(inputs["input"], padding, constant_values=-np.inf)
        best = np.full((height, width), -np.inf, np.float32)
        for dy in range(0, kernel * dilation, dilation):
            for dx in range(0, kernel * dilation, dilation):
                window = padded[dy : dy + stride * height : stride, dx : dx + stride * width : stride]
                np.maximum(best, window[:height, :width], out=best)
        return {"output": best.astype(np.float64)}

    def flops(self, case: Case) -> float:
        height, width = self.output_shapes(case)["output"]
        return float(height * width * case.values["kernel_size"] ** 2)

    def bytes(self, case: Case) -> float:
        height, width = self.output_shapes(case)["output"]
        return 4.0 * (case.values["H"] * case.values["W"] + height * width)


PROBLEM = MaxPool2d()
