"""What the problems on block-scaled formats share: into them, out of them, and products of matrices in them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.block_inputs import mx_input
from problems.definition import Case, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.distributions import Distribution
from problems.microscaling import (
    MX_BLOCK,
    SmallFloat,
    mx_dequantized,
    mx_quantized,
    tiled,
    tiled_size,
    untiled,
)
from problems.rounding import EXACT, SUM, sum_condition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_FLOAT_BYTES = 4
DISTRIBUTIONS = (Distribution.UNIFORM, Distribution.POSITIVE, Distribution.NORMAL)
"""Scales share their size: of other distributions, hardly anything but the spikes would be left."""


def sides_case(sides: Mapping[str, int], distribution: Distribution) -> Case:
    """A case named by its sizes, as in `1024 x 1024, normal`."""
    name = " x ".join(str(side) for side in sides.values())
    return Case(f"{name}, {distribution}", {**sides, "distribution": distribution})


def matrix_case(m: int, k: int, distribution: Distribution) -> Case:
    """An m x k matrix."""
    return sides_case({"m": m, "k": k}, distribution)


def product_case(m: int, k: int, n: int, distribution: Distribution) -> Case:
    """An m x k matrix by the transpose of an n x k one."""
    return sides_case({"m": m, "k": k, "n": n}, distribution)


QUANTIZE_SIZES = Sizes(
    cpu=(
        matrix_case(128, 512, Distribution.UNIFORM),
        matrix_case(257, 96, Distribution.NORMAL),
        matrix_case(1, 4128, Distribution.WIDE),
        matrix_case(133, 416, Distribution.SMALL),
    ),
    gpu=(
        matrix_case(1024, 1024, Distribution.UNIFORM),
        matrix_case(2048, 2048, Distribution.WIDE),
        matrix_case(4096, 8192, Distribution.NORMAL),
        matrix_case(8192, 4096, Distribution.UNIFORM),
    ),
)
DEQUANTIZE_SIZES = Sizes(
    cpu=QUANTIZE_SIZES.cpu,
    gpu=(
        matrix_case(1024, 1024, Distribution.UNIFORM),
        matrix_case(2048, 2048, Distribution.WIDE),
        matrix_case(4096, 4096, Distribution.NORMAL),
        matrix_case(8192, 4096, Distribution.SMALL),
        matrix_case(4096, 8192, Distribution.UNIFORM),
    ),
)
PRODUCT_SIZES = Sizes(
    cpu=(
        product_case(128, 128, 64, Distribution.UNIFORM),
        product_case(67, 96, 160, Distribution.NORMAL),
        product_case(131, 352, 32, Distribution.POSITIVE),
    ),
    gpu=(
        product_case(1024, 1024, 1024, Distribution.UNIFORM),
        product_case(2048, 1024, 2048, Distribution.NORMAL),
        product_case(4096, 2048, 4096, Distribution.POSITIVE),
        product_case(4096, 4096, 4096, Distribution.UNIFORM),
        product_case(8192, 4096, 8192, Distribution.NORMAL),
    ),
)
_ROWS = {SizeSet.CPU: (1, 61, 127, 131, 257), SizeSet.GPU: (1021, 1025, 2047, 4099)}
_BLOCKS = {SizeSet.CPU: (1, 3, 5, 9, 17), SizeSet.GPU: (33, 65, 97, 127)}


def hidden_matrix(size_set: SizeSet, block: int, rng: np.random.Generator) -> Case:
    """Odd numbers of rows, and of blocks in a row."""
    distribution = tuple(Distribution)[rng.integers(len(Distribution))]
    return matrix_case(int(rng.choice(_ROWS[size_set])), block * int(rng.choice(_BLOCKS[size_set])), distribution)


def hidden_product(size_set: SizeSet, rng: np.random.Generator) -> Case:
    """Odd numbers of rows, and of blocks along the other sides."""
    k, n = (MX_BLOCK * int(count) for count in rng.choice(_BLOCKS[size_set][:4], 2))
    return product_case(int(rng.choice(_ROWS[size_set])), k, n, DISTRIBUTIONS[rng.integers(len(DISTRIBUTIONS))])


class MxQuantize(Problem):
    """`q` and `scale` of a matrix, scales row by row."""

    element: ClassVar[SmallFloat]
    signature = "const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"q": Initial.POISON, "scale": Initial.POISON}
    tolerance = EXACT
    sizes = QUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_matrix(size_set, MX_BLOCK, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        sides = {name: case.values[name] for name in ("m", "k")}
        matrix = self.sample(case.values["distribution"], (sides["m"], sides["k"]), rng)
        return {"a": mx_input(matrix, self.element, rng), **sides}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, k = case.values["m"], case.values["k"]
        return {"q": (m, k // 2 if self.element.packed else k), "scale": (m, k // MX_BLOCK)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        codes, scales = mx_quantized(inputs["a"], self.element)
        return {"q": self.element.stored(codes), "scale": scales}

    def flops(self, case: Case) -> float:
        return 2.0 * case.values["m"] * case.values["k"]

    def bytes(self, case: Case) -> float:
        written = sum(prod(shape) for shape in self.output_shapes(case).values())
        return float(_FLOAT_BYTES * case.values["m"] * case.values["k"] + written)


class MxDequantize(Problem):
    """What `q` is worth by `scale`."""

    element: ClassVar[SmallFloat]
    signature = "const uint8_t* q, const uint8_t* scale, float* out, size_t m, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"out": Initial.POISON}
    narrow_outputs = True
    tolerance = Tolerance(
        2.0, "2 units of eps * |expected|: the products are exact, but for a power of two from a fast exponential."
    )
    sizes = DEQUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_matrix(size_set, MX_BLOCK, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        sides = {name: case.values[name] for name in ("m", "k")}
        matrix = self.sample(case.values["distribution"], (sides["m"], sides["k"]), rng, spike=16.0)
        codes, scales = mx_quantized(mx_input(matrix, self.element, rng), self.element)
        return {"q": self.element.stored(codes), "scale": scales, **sides}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"out": (case.values["m"], case.values["k"])}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"out": mx_dequantized(self.element.codes(inputs["q"]), inputs["scale"], self.element)}

    def flops(self, case: Case) -> float:
        return 1.0 * case.values["m"] * case.values["k"]

    def bytes(self, case: Case) -> float:
        m, k = case.values["m"], case.values["k"]
        return float(m * k // (2 if self.element.packed else 1) + m * k // MX_BLOCK + _FLOAT_BYTES * m * k)


class MxGemm(Problem):
    """`C = A B^T`, both in blocks along k, their scales in tiles."""

    element: ClassVar[SmallFloat]
    signature = (
        "const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b, const uint8_t* scale_b, float* c, "
        "size_t m, size_t n, size_t k"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"c": Initial.ZERO}
    nondeterministic = True
    tolerance = SUM
    sizes = PRODUCT_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_product(size_set, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        for name, rows in (("a", case.values["m"]), ("b", case.values["n"])):
            matrix = self.sample(case.values["distribution"], (rows, case.values["k"]), rng, spike=64.0)
            codes, scales = mx_quantized(mx_input(matrix, self.element, rng), self.element)
            drawn |= {f"q_{name}": self.element.stored(codes), f"scale_{name}": tiled(scales)}
        return {**drawn, **{name: case.values[name] for name in ("m", "n", "k")}}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"c": (case.values["m"], case.values["n"])}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        a, b = self._factors(case, inputs)
        return {"c": a @ b.T}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        a, b = self._factors(case, inputs)
        return {"c": sum_condition(np.abs(a) @ np.abs(b).T, case.values["k"])}

    def flops(self, case: Case) -> float:
        return 2.0 * case.values["m"] * case.values["n"] * case.values["k"]

    def bytes(self, case: Case) -> float:
        m, n, k = (case.values[name] for name in ("m", "n", "k"))
        elements = (m + n) * k // (2 if self.element.packed else 1)
        return float(elements + sum(tiled_size(rows, k // MX_BLOCK) for rows in (m, n)) + _FLOAT_BYTES * m * n)

    def _factors(self, case: Case, inputs: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        blocks = case.values["k"] // MX_BLOCK
        a, b = (
            mx_dequantized(
                self.element.codes(inputs[f"q_{name}"]),
                untiled(inputs[f"scale_{name}"], len(inputs[f"q_{name}"]), blocks),
                self.element,
            )
            for name in ("a", "b")
        )
        return a, b
