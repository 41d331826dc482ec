"""What the problems that divide a tensor by a norm of its own share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from math import prod, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY, Domain
from problems.kit.parts import some_pieces, within

MOMENT_EPSILON = 1e-5
"""Added to a variance or a mean square before its root is taken."""
_NORM_EPSILON = 1e-10
"""What kernels may add to the norm of a row against a division by 0: beside our rows it does not count."""

NORM = Tolerance(
    2.0,
    "2 units of eps * |y| * (1 + sqrt(n)): the norm is a sum of n positive terms in any order, and the division "
    "rounds.",
)
NORM_DISTRIBUTIONS = (
    Distribution.NORMAL,
    Distribution.UNIFORM,
    Distribution.POSITIVE,
    Distribution.LARGE,
    Distribution.WIDE,
)
"""All but SMALL: what is added to a norm against divisions by 0 must not show."""


class Normalization(Problem):
    """`Y = X / norm(X)`, the norm taken along the last dimension of X."""

    outputs: ClassVar[Mapping[str, Initial]] = {"Y": Initial.POISON}
    nondeterministic = True
    tolerance = NORM
    domains: ClassVar[Mapping[str, Domain]] = {"X": ANY}
    spike: ClassVar[float] = 64.0
    flops_per_element: ClassVar[float] = 3.0

    @abstractmethod
    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each row is divided by, the last dimension kept with length 1."""

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {"X": self.sampled("X", case, rng, self.spike), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        x = inputs["X"].astype(np.float64)
        # A row of zeros stays one.
        return {"Y": x / np.maximum(self.norm(x), np.finfo(np.float64).tiny)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        return {"Y": np.abs(expected["Y"]) * (1.0 + sqrt(self.output_shapes(case)["Y"][-1]))}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        *rows, length = self.output_shapes(case)["Y"]
        chosen = some_pieces(prod(rows), length, rng)
        return None if chosen is None else Part(case, dict.fromkeys("XY", within(chosen, length)))

    def flops(self, case: Case) -> float:
        return self.flops_per_element * prod(self.output_shapes(case)["Y"])


row_case = CaseTemplate("B={B}, D={D}, {distribution}")
CPU_ROWS = (
    (16, 1024, Distribution.NORMAL),
    (7, 4099, Distribution.WIDE),
    (257, 63, Distribution.POSITIVE),
    (65, 509, Distribution.UNIFORM),
)
"""The matrices that the cpu device normalizes by rows."""


class RowNorm(Normalization):
    """Each row of a matrix is divided by a norm of its own; the last two parameters are the matrix's sides."""

    difficulty = Difficulty.EASY
    tags = ("normalization", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* X, float* Y, size_t B, size_t D"
    arrays: ClassVar[Mapping[str, str]] = {"X": "B, D", "Y": "B, D"}
    case: ClassVar[CaseTemplate] = row_case
    sizes = Sizes(
        cpu=tuple(row_case(*one) for one in CPU_ROWS),
        gpu=(
            row_case(128, 4096, Distribution.NORMAL),
            row_case(256, 4096, Distribution.WIDE),
            row_case(128, 8192, Distribution.POSITIVE),
            row_case(256, 8192, Distribution.UNIFORM),
            row_case(128, 16384, Distribution.LARGE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        rows, columns = ((3, 31, 127), (61, 513, 1021)) if size_set is SizeSet.CPU else ((127, 257), (4093, 8209))
        return self.case.draw(rng, rows, columns, NORM_DISTRIBUTIONS)

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        x = inputs["X"].astype(np.float64)
        return {"1e-10 added to the norm": {"Y": x / (self.norm(x) + _NORM_EPSILON)}}


def standardized(x: NDArray[np.float64], axes: tuple[int, ...]) -> NDArray[np.float64]:
    """Brought to mean 0 and variance 1 over `axes`."""
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axis=axes, keepdims=True) + MOMENT_EPSILON)


def standardized_condition(x: NDArray[np.float64], axes: tuple[int, ...]) -> NDArray[np.float64]:
    """What the rounding errors of `standardized` scale with, the variance taken as E[x^2] - E[x]^2 too.

    With n terms and r = 1 / sqrt(variance + epsilon): r * (|x - mean| + sqrt(n) * mean|x|), the error of the mean, and
    sqrt(n) * |x - mean| * r^3 * mean(x^2), that of the variance.
    """
    growth = sqrt(prod(x.shape[axis] for axis in axes))
    centred = np.abs(x - x.mean(axis=axes, keepdims=True))
    inverse = 1.0 / np.sqrt(x.var(axis=axes, keepdims=True) + MOMENT_EPSILON)
    of_mean = growth * np.abs(x).mean(axis=axes, keepdims=True)
    of_variance = growth * centred * np.square(inverse) * np.square(x).mean(axis=axes, keepdims=True)
    return inverse * (centred + of_mean + of_variance)
