"""What the problems on block-scaled formats share: into them, out of them, and products of matrices in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.microscaling import (
    E2M1,
    E4M3,
    MX_BLOCK,
    SmallFloat,
    mx_dequantized,
    mx_quantized,
    tile_places,
    tiled,
    tiled_size,
    untiled,
)
from problems.kit.cases import CaseTemplate
from problems.kit.chaining import ROLL, ChainRule, rolled
from problems.kit.definition import Case, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Blocks, Distribution, some_blocks, whole_numbers
from problems.kit.factors import Factors
from problems.kit.parts import grid, some_pieces, some_tile, within
from problems.kit.rounding import EXACT, SUM, sum_condition

DISTRIBUTIONS = (Distribution.UNIFORM, Distribution.POSITIVE, Distribution.NORMAL)
"""Of products, whose terms differ by their codes already."""
_MX_SCALES = {
    Distribution.UNIFORM: (121, 4),
    Distribution.POSITIVE: (121, 4),
    Distribution.NORMAL: (119, 8),
    Distribution.SMALL: (110, 8),
    Distribution.LARGE: (130, 8),
    Distribution.WIDE: (107, 40),
}
"""The lowest of the exponents that are drawn, and how many there are."""
_NV_SCALES = {Distribution.UNIFORM: (0x70, 15), Distribution.POSITIVE: (0x70, 15), Distribution.WIDE: (1, 0x7E)}
_OTHER_NV_SCALES = (0x60, 0x1F)
"""Codes of positive E4M3 numbers, the same way: up to the largest, as that of a matrix's largest block is."""
_NV_LARGEST = {Distribution.SMALL: 4e-3, Distribution.LARGE: 4e3, Distribution.WIDE: 1024.0}
"""What the largest values of a matrix are; 1 where nothing is said."""

_OCTAVES = {
    Distribution.UNIFORM: (-3, 3),
    Distribution.POSITIVE: (-3, 3),
    Distribution.NORMAL: (-2, 4),
    Distribution.SMALL: (-7, 3),
    Distribution.LARGE: (7, 3),
}
"""The exponents of blocks that an encoder is given: the lowest, and how many there are."""
_WIDE_OCTAVES = {"float16": (-7, 11), "float32": (-60, 120)}
"""By type; of halfs no more than leave all scales of NVFP4 normal numbers."""
_BIASES = {"float16": 15, "float32": 127}


_matrix_case = CaseTemplate("{m} x {k}, {distribution}")
_product_case = CaseTemplate("{m} x {k} x {n}, {distribution}")
"""An m x k matrix by the transpose of an n x k one."""

QUANTIZE_SIZES = Sizes(
    cpu=(
        _matrix_case(128, 512, Distribution.UNIFORM),
        _matrix_case(257, 96, Distribution.NORMAL),
        _matrix_case(1, 4128, Distribution.WIDE),
        _matrix_case(133, 416, Distribution.SMALL),
    ),
    gpu=(
        _matrix_case(1024, 1024, Distribution.UNIFORM),
        _matrix_case(2048, 2048, Distribution.WIDE),
        _matrix_case(4096, 8192, Distribution.NORMAL),
        _matrix_case(8192, 4096, Distribution.UNIFORM),
    ),
)
DEQUANTIZE_SIZES = Sizes(
    cpu=QUANTIZE_SIZES.cpu,
    gpu=(
        _matrix_case(1024, 1024, Distribution.UNIFORM),
        _matrix_case(2048, 2048, Distribution.WIDE),
        _matrix_case(4096, 4096, Distribution.NORMAL),
        _matrix_case(8192, 4096, Distribution.SMALL),
        _matrix_case(4096, 8192, Distribution.UNIFORM),
    ),
)
PRODUCT_SIZES = Sizes(
    cpu=(
        # In whole tiles, so that the scales are drawn as they lie.
        _product_case(128, 128, 128, Distribution.UNIFORM),
        _product_case(67, 96, 160, Distribution.NORMAL),
        _product_case(131, 352, 32, Distribution.POSITIVE),
    ),
    gpu=(
        _product_case(1024, 1024, 1024, Distribution.UNIFORM),
        _product_case(2048, 1024, 2048, Distribution.NORMAL),
        _product_case(4096, 2048, 4096, Distribution.POSITIVE),
        _product_case(4096, 4096, 4096, Distribution.UNIFORM),
        _product_case(8192, 4096, 8192, Distribution.NORMAL),
    ),
)
_ROWS = {SizeSet.CPU: (1, 61, 127, 131, 257), SizeSet.GPU: (1021, 1025, 2047, 4099)}
_BLOCKS = {SizeSet.CPU: (1, 3, 5, 9, 17), SizeSet.GPU: (33, 65, 97, 127)}


def hidden_matrix(size_set: SizeSet, block: int, rng: np.random.Generator) -> Case:
    """Odd numbers of rows, and of blocks in a row."""
    distribution = tuple(Distribution)[rng.integers(len(Distribution))]
    return _matrix_case(int(rng.choice(_ROWS[size_set])), block * int(rng.choice(_BLOCKS[size_set])), distribution)


def hidden_product(size_set: SizeSet, rng: np.random.Generator) -> Case:
    """Odd numbers of rows, and of blocks along the other sides."""
    k, n = (MX_BLOCK * int(count) for count in rng.choice(_BLOCKS[size_set][:4], 2))
    return _product_case(int(rng.choice(_ROWS[size_set])), k, n, DISTRIBUTIONS[rng.integers(len(DISTRIBUTIONS))])


def mx_scales(distribution: Distribution, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
    """Scales of an MX matrix."""
    return whole_numbers(*_MX_SCALES[distribution], shape, rng, np.uint8)


def nv_scales(distribution: Distribution, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
    """Scales of the blocks of an NVFP4 matrix."""
    return whole_numbers(*_NV_SCALES.get(distribution, _OTHER_NV_SCALES), shape, rng, E4M3.dtype)


def in_tiles(
    scales: Callable[[Distribution, tuple[int, ...], np.random.Generator], NDArray[Any]],
    distribution: Distribution,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Such scales of a matrix of this shape in tiles; if they fill their tiles they are drawn as they lie there."""
    size = tiled_size(*shape)
    return scales(distribution, (size,), rng) if size == prod(shape) else tiled(scales(distribution, shape, rng))


def nv_global_scale(case: Case, matrix: int = 0) -> float:
    """The scale of a whole NVFP4 matrix, of a product's second another, and of a hidden case any."""
    largest = _NV_LARGEST.get(case["distribution"], 1.0) * case.values.get("stretch", 1.0) * (1 + matrix / 3)
    return float(np.float32(E2M1.largest * E4M3.largest / largest))


def encoder_input(
    distribution: Distribution, shape: tuple[int, int], block: int, dtype: str, rng: np.random.Generator
) -> tuple[NDArray[Any], int]:
    """A matrix whose right encoding does not depend on how a kernel orders its products, below this power of two.

    An encoding is compared bit by bit. A scale of MX hangs on which powers of two a block's largest is between, and
    that is clear of them; all else of MX is exact, ties included. NVFP4 compares halfs, times a third or three and a
    power of two, with turns of at most seven bits; as their eleventh is 1, they are apart by 2^-13 or more. No negative
    number becomes 0, as encoders differ about its sign: it is at least a sixteenth of a power of two that its block is
    below.
    """
    lowest, count = _OCTAVES.get(distribution) or _WIDE_OCTAVES[dtype]
    recipe = Blocks(block, lowest + _BIASES[dtype], count, distribution is not Distribution.POSITIVE)
    return some_blocks(recipe, shape, rng, dtype), lowest + count


def stretched(case: Case, rng: np.random.Generator) -> Case:
    """The case with values that are smaller by a random factor."""
    return replace(case, values={**case.values, "stretch": float(rng.uniform(0.3, 1.0))})


def blocks_part(
    case: Case,
    block: int,
    element: SmallFloat,
    scale_places: Callable[[NDArray[np.int64], NDArray[np.int64], int], NDArray[np.int64]],
    rng: np.random.Generator,
    matrix: str = "out",
) -> Part | None:
    """Some blocks of `matrix` as a part, a row for each; `scale_places` tells where the scale of a block is."""
    m, columns = case["m"], case["k"] // block
    blocks = some_pieces(m * columns, block, rng)
    if blocks is None:
        return None
    places = {
        "q": within(blocks, element.stored_length(block)),
        "scale": scale_places(blocks // columns, blocks % columns, columns)[:, None],
        matrix: within(blocks, block),
    }
    return Part(replace(case, values={**case.values, "m": len(blocks), "k": block}), places)


def _row_by_row(row: NDArray[np.int64], column: NDArray[np.int64], columns: int) -> NDArray[np.int64]:
    return row * columns + column


def product_shapes(case: Case, block: int, element: SmallFloat) -> dict[str, tuple[int, ...]]:
    """The shapes of both matrices of a product and of their scales, which lie in tiles."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, rows in (("a", case["m"]), ("b", case["n"])):
        shapes[f"q_{name}"] = (rows, element.stored_length(case["k"]))
        shapes[f"scale_{name}"] = (tiled_size(rows, case["k"] // block),)
    return shapes


def product_part(case: Case, block: int, element: SmallFloat, rng: np.random.Generator) -> Part | None:
    """Some rows of both matrices as a part of their product."""
    k, n = case["k"], case["n"]
    tile = some_tile(case["m"], k, n, rng)
    if tile is None:
        return None
    places = {"c": grid(tile.rows, tile.columns, n)}
    for name, rows in (("a", tile.rows), ("b", tile.columns)):
        places[f"q_{name}"] = within(rows, element.stored_length(k))
        places[f"scale_{name}"] = tile_places(rows.reshape(-1, 1), np.arange(k // block, dtype=np.int64), k // block)
    return Part(case, places)


class MxQuantize(Problem):
    """`q` and `scale` of a matrix, scales row by row."""

    element: ClassVar[SmallFloat]
    # Whether a number is clear of where rounding turns hangs on the block that it is in.
    chain: ClassVar[Mapping[str, ChainRule]] = {"a": rolled(MX_BLOCK)}
    signature = "const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k"
    arrays: ClassVar[Mapping[str, str]] = {"a": "m, k"}
    outputs: ClassVar[Mapping[str, Initial]] = {"q": Initial.POISON, "scale": Initial.POISON}
    tolerance = EXACT
    sizes = QUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_matrix(size_set, MX_BLOCK, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        matrix, _ = encoder_input(case["distribution"], (case["m"], case["k"]), MX_BLOCK, "float32", rng)
        return {"a": matrix, **self.scalars(case)}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return _mx_shapes(case, self.element)

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        codes, scales = mx_quantized(inputs["a"], self.element)
        return {"q": self.element.stored(codes), "scale": scales}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        return blocks_part(case, MX_BLOCK, self.element, _row_by_row, rng, "a")

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["k"]


class MxDequantize(Problem):
    """What `q` is worth by `scale`."""

    element: ClassVar[SmallFloat]
    signature = "const uint8_t* q, const uint8_t* scale, float* out, size_t m, size_t k"
    arrays: ClassVar[Mapping[str, str]] = {"out": "m, k"}
    outputs: ClassVar[Mapping[str, Initial]] = {"out": Initial.POISON}
    narrow_outputs = True
    tolerance = Tolerance(
        2.0, "2 units of eps * |expected|: the products are exact, but for a power of two from a fast exponential."
    )
    sizes = DEQUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_matrix(size_set, MX_BLOCK, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        m, k, distribution = case["m"], case["k"], case["distribution"]
        q = self.element.drawn(distribution, (m, k), rng)
        return {"q": q, "scale": mx_scales(distribution, (m, k // MX_BLOCK), rng), **self.scalars(case)}

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return _mx_shapes(case, self.element)

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"out": mx_dequantized(self.element.codes(inputs["q"]), inputs["scale"], self.element)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        return blocks_part(case, MX_BLOCK, self.element, _row_by_row, rng)

    def flops(self, case: Case) -> float:
        return 1.0 * case["m"] * case["k"]


def _mx_shapes(case: Case, element: SmallFloat) -> dict[str, tuple[int, ...]]:
    return {"q": (case["m"], element.stored_length(case["k"])), "scale": (case["m"], case["k"] // MX_BLOCK)}


class MxGemm(Problem):
    """`C = A B^T`, both in blocks along k, their scales in tiles."""

    element: ClassVar[SmallFloat]
    signature = (
        "const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b, const uint8_t* scale_b, float* c, "
        "size_t m, size_t n, size_t k"
    )
    arrays: ClassVar[Mapping[str, str]] = {"c": "m, n"}
    # Scales stay, as the padding of their tiles is no scale.
    chain: ClassVar[Mapping[str, ChainRule]] = {"q_a": ROLL, "q_b": ROLL}
    outputs: ClassVar[Mapping[str, Initial]] = {"c": Initial.ZERO}
    nondeterministic = True
    tolerance = SUM
    sizes = PRODUCT_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_product(size_set, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        k, distribution = case["k"], case["distribution"]
        for name, rows in (("a", case["m"]), ("b", case["n"])):
            drawn[f"q_{name}"] = self.element.drawn(distribution, (rows, k), rng)
            drawn[f"scale_{name}"] = in_tiles(mx_scales, distribution, (rows, k // MX_BLOCK), rng)
        return {**drawn, **self.scalars(case)}

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return product_shapes(case, MX_BLOCK, self.element)

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        a, b = self._factors(case, inputs)
        return {"c": a @ b.T}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        a, b = self._factors(case, inputs)
        return {"c": sum_condition(np.abs(a) @ np.abs(b).T, case["k"])}

    def factors(self, case: Case, inputs: Mapping[str, Any]) -> Factors | None:
        a, b = self._factors(case, inputs)
        return Factors("c", a, b.T)

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        return product_part(case, MX_BLOCK, self.element, rng)

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["n"] * case["k"]

    def _factors(self, case: Case, inputs: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        blocks = case["k"] // MX_BLOCK
        a, b = (
            mx_dequantized(
                self.element.codes(inputs[f"q_{name}"]),
                untiled(inputs[f"scale_{name}"], len(inputs[f"q_{name}"]), blocks),
                self.element,
            )
            for name in ("a", "b")
        )
        return a, b
