"""What the problems that multiply two matrices share, and what is made of each element of the product."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution, Form, any_distribution, formed
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.factors import Factors
from problems.kit.parts import grid, some_tile, within
from problems.kit.rounding import SUM, sum_condition

_HIDDEN_LENGTHS = {SizeSet.CPU: (31, 61, 97, 131), SizeSet.GPU: (509, 1021, 1531, 2053)}


def hidden_lengths(size_set: SizeSet, rng: np.random.Generator, count: int) -> list[int]:
    """Sides near the public ones: none a multiple of a tile's."""
    return [int(length) for length in rng.choice(_HIDDEN_LENGTHS[size_set], count)]


class MatrixProduct(Problem):
    """`C = f(A B)`: the first two inputs are A and B."""

    nondeterministic = True
    tolerance = SUM
    time_limit_seconds = 20.0
    spike: ClassVar[float] = 64.0
    is_transposed: ClassVar[bool] = False
    """Whether the second input is B's transpose."""

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {**{name: self.draw(name, case, rng) for name in self.input_shapes(case)}, **self.scalars(case)}

    def draw(self, name: str, case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        """One input array; by default, of the case's distribution."""
        return self.sampled(name, case, rng, self.spike)

    def operands(self, case: Case, inputs: Mapping[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """A and B as matrices; all dimensions of A but the last are rows."""
        a, b = (inputs[name] for name in list(self.input_shapes(case))[:2])
        return a.reshape(-1, a.shape[-1]), b.T if self.is_transposed else b

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        """What the output is made of; by default the product itself."""
        return product

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        """What rounding errors of the output scale with, from what those of the product do."""
        return condition

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        (name,) = self.output_shapes(case)
        return {name: self._shaped(self.finish(self._product(case, inputs), inputs), case, inputs)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        (name,) = self.output_shapes(case)
        a, b = self.operands(case, inputs)
        # The bound needs no more than single precision: it is a sum of positive terms.
        absolute = (np.abs(a) @ np.abs(b)).astype(np.float64)
        condition = sum_condition(absolute, a.shape[1])
        if type(self).finish_condition is not MatrixProduct.finish_condition:
            condition = self.finish_condition(condition, self._product(case, inputs), inputs)
        return {name: self._shaped(condition, case, inputs)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        ((output, shape),) = self.output_shapes(case).items()
        (a, a_shape), (b, b_shape), *others = self.input_shapes(case).items()
        rows, depth, columns = prod(a_shape[:-1]), a_shape[-1], b_shape[0 if self.is_transposed else 1]
        tile = some_tile(rows, depth, columns, rng)
        if tile is None or prod(shape) != rows * columns:
            return None
        elements = grid(tile.rows, tile.columns, columns)
        of_b = grid(np.arange(depth), tile.columns, columns)
        if self.is_transposed:
            of_b = within(tile.columns, depth)
        of_others = {name: tile.columns if prod(other) == columns else elements for name, other in others}
        return Part(case, {a: within(tile.rows, depth), b: of_b, **of_others, output: elements})

    def factors(self, case: Case, inputs: Mapping[str, Any]) -> Factors | None:
        if type(self).finish is not MatrixProduct.finish:
            return None
        (name,) = self.output_shapes(case)
        return Factors(name, *self.operands(case, inputs))

    def flops(self, case: Case) -> float:
        first, second = list(self.input_shapes(case).values())[:2]
        return 2.0 * prod(first) * prod(second) / first[-1]

    def _shaped(self, values: NDArray[np.float64], case: Case, inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        """What the output holds, or a part of it, in its shape."""
        (shape,) = self.output_shapes(case).values()
        if values.size == prod(shape):
            return values.reshape(shape)
        return values.reshape(*inputs[next(iter(self.input_shapes(case)))].shape[:-1], values.shape[-1])

    def _product(self, case: Case, inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        a, b = self.operands(case, inputs)
        return a.astype(np.float64) @ b.astype(np.float64)


square_case = CaseTemplate("{n}x{n}, {distribution}")

SQUARES_ON_CPU = (
    square_case(128, Distribution.UNIFORM),
    square_case(127, Distribution.NORMAL),
    square_case(65, Distribution.WIDE),
    square_case(96, Distribution.SMALL),
)


class SquareProduct(MatrixProduct):
    """`C = A B` with all three of n x n."""

    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    outputs: ClassVar[Mapping[str, Initial]] = {"output_c": Initial.ZERO}
    sizes = Sizes(
        cpu=SQUARES_ON_CPU,
        gpu=(
            square_case(4096, Distribution.UNIFORM),
            square_case(6144, Distribution.NORMAL),
            square_case(7168, Distribution.WIDE),
            square_case(8192, Distribution.SMALL),
            square_case(9216, Distribution.POSITIVE),
        ),
    )
    signature = "const float* input_a, const float* input_b, float* output_c, size_t n"
    arrays: ClassVar[Mapping[str, str]] = {"input_a": "n, n", "input_b": "n, n", "output_c": "n, n"}
    domains: ClassVar[Mapping[str, Domain]] = {"input_a": ANY_SCALE, "input_b": ANY_SCALE}

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return square_case(hidden_lengths(size_set, rng, 1)[0], any_distribution(rng))


class TriangularProduct(SquareProduct):
    """`C = A B` with nothing on one side of the diagonal of A, B and C."""

    sizes = Sizes(
        cpu=SQUARES_ON_CPU,
        gpu=(
            square_case(2048, Distribution.UNIFORM),
            square_case(4096, Distribution.NORMAL),
            square_case(6144, Distribution.WIDE),
            square_case(8192, Distribution.SMALL),
        ),
    )

    form: ClassVar[Form]

    def draw(self, name: str, case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        return formed(super().draw(name, case, rng), self.form)

    def flops(self, case: Case) -> float:
        # Of each row of C only one side of the diagonal is computed, from the terms that are not 0.
        n = case["n"]
        return n * (n + 1) * (n + 2) / 3.0


def swish(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """`z * sigmoid(z)`."""
    return z * sigmoid(z)


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """`1 / (1 + exp(-z))`, for any z."""
    decay = np.exp(-np.abs(z))
    return np.where(z < 0.0, decay, 1.0) / (1.0 + decay)


def swish_condition(condition: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """What rounding errors of `swish(z)` scale with: its slope is at most 1.1, and its own steps round like `swish`'s.

    A fast exponential may take z off by an eps of itself.
    """
    return 1.1 * condition + 4.0 * np.abs(swish(z)) * (1.0 + np.abs(z) * sigmoid(-z))
