"""Batch normalization."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.families.normalization import standardized, standardized_condition
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.parts import some_pieces, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_AXES = (0, 2, 3)


def _case(shape: tuple[int, int, int, int], distribution: Distribution) -> Case:
    values = dict(zip(("B", "F", "D1", "D2"), shape, strict=True))
    labels = [f"{name}={size}" for name, size in values.items()]
    return Case(", ".join([*labels, distribution.value]), {**values, "distribution": distribution})


class BatchNorm(Problem):
    """Each of F features is brought to mean 0 and variance 1 over all items and places."""

    slug = "batch-norm"
    title = "Batch Normalization"
    difficulty = Difficulty.MEDIUM
    tags = ("normalization", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* X, float* Y, size_t B, size_t F, size_t D1, size_t D2"
    outputs: ClassVar[Mapping[str, Initial]] = {"Y": Initial.POISON}
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * r * (|x - mean| + sqrt(n) * mean|x| + sqrt(n) * |x - mean| * r^2 * mean(x^2)), r = 1 / "
        "sqrt(variance + 1e-5): any order of the two sums of n terms, also of E[x^2] - E[x]^2.",
    )
    sizes = Sizes(
        cpu=(
            _case((4, 8, 32, 32), Distribution.NORMAL),
            _case((3, 7, 31, 17), Distribution.POSITIVE),
            _case((16, 3, 16, 16), Distribution.UNIFORM),
            _case((2, 2, 63, 65), Distribution.LARGE),
        ),
        gpu=(
            _case((16, 64, 256, 256), Distribution.NORMAL),
            _case((32, 128, 128, 128), Distribution.UNIFORM),
            _case((8, 256, 64, 64), Distribution.POSITIVE),
            _case((4, 32, 512, 512), Distribution.LARGE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        batches, features, sides = (1, 3, 5), (3, 11, 13), (19, 31, 33)
        if size_set is SizeSet.GPU:
            batches, features, sides = (3, 7, 17), (61, 127, 129), (63, 127, 255)
        b, f, d1, d2 = (int(rng.choice(choices)) for choices in (batches, features, sides, sides))
        distributions = [Distribution.NORMAL, Distribution.UNIFORM, Distribution.POSITIVE, Distribution.LARGE]
        return _case((b, f, d1, d2), Distribution(str(rng.choice(distributions))))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        sizes = {name: case[name] for name in ("B", "F", "D1", "D2")}
        return {"X": self.sample(case["distribution"], self._shape(case), rng, spike=16.0), **sizes}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"Y": self._shape(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"Y": standardized(inputs["X"].astype(np.float64), _AXES)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        return {"Y": standardized_condition(inputs["X"].astype(np.float64), _AXES)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        items, features, *sides = self._shape(case)
        chosen = some_pieces(features, items * prod(sides), rng)
        if chosen is None:
            return None
        places = np.arange(items)[:, None, None, None] * (features * prod(sides)) + within(chosen, *sides)
        return Part(case, dict.fromkeys("XY", places))

    def flops(self, case: Case) -> float:
        return 6.0 * prod(self._shape(case))

    def bytes(self, case: Case) -> float:
        return 8.0 * prod(self._shape(case))

    def _shape(self, case: Case) -> tuple[int, ...]:
        return tuple(case[name] for name in ("B", "F", "D1", "D2"))


PROBLEM = BatchNorm()
