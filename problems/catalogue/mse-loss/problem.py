"""Mean squared error."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.rounding import sum_condition

_SPIKE = 64.0
"""Its square outweighs a row of ordinary terms; beside larger ones, one running accumulator would lose those."""

_MOST_IN_A_ROW = 1 << 16
"""Terms that one accumulator may take. A bound that grew with 10^8 of them would be wider than the means of different
inputs lie apart: any constant would pass."""


_case = CaseTemplate("shape={shape}, {distribution}")


class MseLoss(Problem):
    """The mean of the squared differences of two tensors: one number."""

    slug = "mse-loss"
    title = "Mean Squared Error"
    difficulty = Difficulty.EASY
    tags = ("loss", "reduction")
    signature = "const float* predictions, const float* targets, float* output, const size_t* shape, size_t ndim"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"output": "1"}
    host_readable = frozenset({"shape"})
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (1 + sqrt(min(n, 65536))) * mean: n positive terms in any order, but not all one by one "
        "where they are very many; each difference and square rounded.",
    )
    sizes = Sizes(
        cpu=(
            _case((256, 256), Distribution.NORMAL),
            _case((31, 37, 41), Distribution.WIDE),
            _case((5, 7, 11, 13), Distribution.UNIFORM),
            _case((3, 4, 5, 6, 7), Distribution.SMALL),
        ),
        gpu=(
            _case((4096, 4096), Distribution.NORMAL),
            _case((8192, 8192), Distribution.UNIFORM),
            _case((512, 512, 512), Distribution.WIDE),
            _case((64, 64, 64, 64), Distribution.SMALL),
            _case((32, 32, 32, 32, 32), Distribution.NORMAL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths = (13, 37, 41) if size_set is SizeSet.CPU else (127, 131, 257)
        shape = tuple(int(length) for length in rng.choice(lengths, 3))
        return _case(shape, any_distribution(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {
            "predictions": self.sampled("predictions", case, rng, _SPIKE),
            "targets": self.sampled("targets", case, rng, spike=1.0),
            "shape": np.array(case["shape"], np.uint64),
            "ndim": len(case["shape"]),
        }

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"predictions": case["shape"], "targets": case["shape"]}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        differences = np.subtract(inputs["predictions"], inputs["targets"], dtype=np.float64)
        return {"output": np.square(differences).mean(keepdims=True).reshape(1)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        mean = expected["output"]
        return {"output": mean + sum_condition(mean, min(prod(case["shape"]), _MOST_IN_A_ROW))}

    def flops(self, case: Case) -> float:
        return 3.0 * prod(case["shape"])


PROBLEM = MseLoss()
