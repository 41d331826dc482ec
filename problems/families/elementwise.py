"""What the element-wise problems on an n x m matrix share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import SPIKE_FACTOR, Distribution, any_distribution, scaled
from problems.kit.domain import ANY, Domain
from problems.kit.parts import some_elements

_HIDDEN_ROWS = {SizeSet.CPU: (1, 61, 127, 257), SizeSet.GPU: (4093, 4099, 6143, 8191)}
_HIDDEN_COLUMNS = {SizeSet.CPU: (251, 331, 509), SizeSet.GPU: (4091, 5003, 7169, 8193)}


matrix_case = CaseTemplate("{n}x{m}, {distribution}")
alpha_case = CaseTemplate("{n}x{m}, alpha={alpha:g}, {distribution}")

MATRIX_SIZES = Sizes(
    cpu=(
        matrix_case(256, 192, Distribution.NORMAL),
        matrix_case(257, 127, Distribution.WIDE),
        matrix_case(1, 4099, Distribution.SMALL),
        matrix_case(320, 256, Distribution.UNIFORM),
    ),
    gpu=(
        matrix_case(4096, 4096, Distribution.NORMAL),
        matrix_case(6144, 4096, Distribution.UNIFORM),
        matrix_case(4096, 7168, Distribution.WIDE),
        matrix_case(4096, 8192, Distribution.SMALL),
        matrix_case(8192, 8192, Distribution.NORMAL),
    ),
)


def hidden_shape(size_set: SizeSet, rng: np.random.Generator) -> tuple[int, int]:
    """Rows and columns near the public ones, of which many are prime."""
    return int(rng.choice(_HIDDEN_ROWS[size_set])), int(rng.choice(_HIDDEN_COLUMNS[size_set]))


class Elementwise(Problem):
    """`output[i][j] = f(input[i][j])` for a row-major n x m matrix of floats."""

    signature = "const float* input, float* output, size_t n, size_t m"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"input": "n, m", "output": "n, m"}
    sizes = MATRIX_SIZES
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY}
    flops_per_element: ClassVar[float]
    scale: ClassVar[float] = 1.0
    """Inputs are multiplied by it, to where the function bends."""
    spike: ClassVar[float] = SPIKE_FACTOR
    limit: ClassVar[float] = np.inf
    """Inputs are cut off there, where usual formulas overflow on the way to a finite value."""

    @abstractmethod
    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        """The function, in fp64."""

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        """What rounding errors of `y = f(x)` scale with: by default `y` itself."""
        return np.abs(y)

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return matrix_case(*hidden_shape(size_set, rng), any_distribution(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        values = self.sampled("input", case, rng, self.spike)
        return {"input": scaled(values, self.scale, self.limit), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": self.apply(inputs["input"].astype(np.float64), case)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        return {"output": self.magnitude(inputs["input"].astype(np.float64), expected["output"], case)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        places = some_elements(case["n"] * case["m"], rng)
        return None if places is None else Part(case, {"input": places, "output": places})

    def flops(self, case: Case) -> float:
        return self.flops_per_element * case["n"] * case["m"]
