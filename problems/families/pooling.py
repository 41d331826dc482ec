"""What the pooling problems share: windows that slide over a tensor of one to three dimensions, in steps."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.correlation import window_part
from problems.kit.definition import Case, Initial, Part, Problem, SizeSet, Tolerance
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.parts import Slide
from problems.kit.rounding import EXACT

_SIDES = ("H", "W", "D")
_HIDDEN_SIDES = {
    SizeSet.CPU: {1: (50_021, 100_003, 131_071), 2: (101, 193, 251, 307), 3: (23, 37, 41, 53)},
    SizeSet.GPU: {1: (2_000_003, 4_194_301, 8_388_617), 2: (2047, 4099, 5003, 8191), 3: (127, 193, 251, 311)},
}
_MAX_HIDDEN_KERNEL = 5


class Pooling(Problem):
    """`input` has as many dimensions as the signature has of H, W and D, the last of which lies together in memory."""

    dtypes = ("float32", "float16", "bfloat16")
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY_SCALE}
    labels: ClassVar[Mapping[str, str]] = {"kernel_size": "K", "stride": "S", "padding": "P"}
    """The scalars that describe a window, with their short names in the names of cases."""

    @classmethod
    def case(cls, shape: tuple[int, ...], window: tuple[int, ...], distribution: Distribution) -> Case:
        """A case named by its sizes; `window` has the values of `labels`, in their order."""
        sides = dict(zip(_SIDES, shape, strict=False))
        scalars = dict(zip(cls.labels, window, strict=True))
        texts = [f"{name}={size}" for name, size in sides.items()]
        texts += [f"{cls.labels[name]}={value}" for name, value in scalars.items()]
        values = {**sides, **scalars, "shape": shape, "distribution": distribution}
        return Case(", ".join([*texts, distribution.value]), values)

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        dimensions = len(self.sizes.cpu[0].values["shape"])
        shape = tuple(int(side) for side in rng.choice(_HIDDEN_SIDES[size_set][dimensions], dimensions))
        kernel = int(rng.integers(2, _MAX_HIDDEN_KERNEL + 1))
        window = (kernel, int(rng.integers(1, 4)), int(rng.integers(0, kernel // 2 + 1)), int(rng.integers(1, 3)))
        return self.case(shape, window[: len(self.labels)], any_distribution(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"input": self.sampled("input", case, rng), **self.scalars(case)}

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"input": case["shape"]}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"output": tuple(_length(side, case) for side in case["shape"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        sides = len(case["shape"])
        taps, padding = (case["kernel_size"],) * sides, (case["padding"],) * sides
        slide = Slide(case["shape"], taps, padding, case["stride"], case.values.get("dilation", 1))
        return window_part(case, ("input", "output"), self.output_shapes(case)["output"], slide, rng)

    def flops(self, case: Case) -> float:
        return float(prod(self.output_shapes(case)["output"]) * self._window_size(case))

    def _window_size(self, case: Case) -> int:
        return case["kernel_size"] ** len(case["shape"])


class MaxPool(Pooling):
    """The largest element of each window; what lies outside the tensor is -infinity."""

    labels: ClassVar[Mapping[str, str]] = {**Pooling.labels, "dilation": "D"}
    tolerance = EXACT

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": _pooled(inputs["input"], case, np.maximum, -np.inf).astype(np.float64)}


class AveragePool(Pooling):
    """The sum of each window over the number of its places, those outside the tensor included, which are 0."""

    tolerance = Tolerance(
        2.0,
        "2 units of eps * sqrt(n) * (mean absolute value of the window's n places): any order of fp32 additions.",
    )

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": self._mean(case, inputs["input"].astype(np.float64))}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        del expected
        mean_size = self._mean(case, np.abs(inputs["input"], dtype=np.float64))
        return {"output": sqrt(self._window_size(case)) * mean_size}

    def _mean(self, case: Case, tensor: NDArray[np.float64]) -> NDArray[np.float64]:
        return _pooled(tensor, case, np.add, 0.0) / self._window_size(case)


def _length(side: int, case: Case) -> int:
    """How many windows there are along a side."""
    reach = case.values.get("dilation", 1) * (case["kernel_size"] - 1) + 1
    return (side + 2 * case["padding"] - reach) // case["stride"] + 1


def _pooled(tensor: NDArray[Any], case: Case, combine: np.ufunc, outside: float) -> NDArray[Any]:
    """Combine each window's elements: those of a box are those of its sides, one dimension after the other.

    Of a part, the tensor has a window in each row.
    """
    inside = case.values.get("inside")
    if inside is not None:
        return combine.reduce(np.where(inside, tensor, outside), axis=tuple(range(1, tensor.ndim)))
    for axis in range(tensor.ndim):
        tensor = _pooled_along(tensor, axis, case, combine, outside)
    return tensor


def _pooled_along(tensor: NDArray[Any], axis: int, case: Case, combine: np.ufunc, outside: float) -> NDArray[Any]:
    padding, stride, dilation = case["padding"], case["stride"], case.values.get("dilation", 1)
    widths = [(padding, padding) if at == axis else (0, 0) for at in range(tensor.ndim)]
    padded = np.moveaxis(np.pad(tensor, widths, constant_values=outside), axis, 0)
    last = stride * (_length(tensor.shape[axis], case) - 1) + 1
    total = padded[:last:stride].copy()
    for start in range(dilation, dilation * case["kernel_size"], dilation):
        combine(total, padded[start : start + last : stride], out=total)
    return np.moveaxis(total, 0, axis)
