"""What the problems that compare predictions with targets, one number at a time, share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY, Domain
from problems.kit.parts import some_elements

loss_case = CaseTemplate("N={n}, {distribution}")

CPU_CASES = (
    loss_case(1 << 16, Distribution.NORMAL),
    loss_case(50_021, Distribution.UNIFORM),
    loss_case(65_537, Distribution.WIDE),
    loss_case(63, Distribution.NORMAL),
)
GPU_CASES = (
    loss_case(1 << 20, Distribution.NORMAL),
    loss_case(1 << 22, Distribution.UNIFORM),
    loss_case(1 << 24, Distribution.WIDE),
    loss_case(1 << 26, Distribution.NORMAL),
)


class ElementwiseLoss(Problem):
    """`output[i] = loss(predictions[i], targets[i])`."""

    signature = "const float* predictions, const float* targets, float* output, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"predictions": "n", "targets": "n", "output": "n"}
    sizes = Sizes(cpu=CPU_CASES, gpu=GPU_CASES)
    domains: ClassVar[Mapping[str, Domain]] = {"predictions": ANY}
    flops_per_element: ClassVar[float]

    @abstractmethod
    def draw(self, case: Case, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The predictions and the targets."""

    @abstractmethod
    def loss(self, p: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
        """The loss of each pair, in fp64."""

    def magnitude(
        self, p: NDArray[np.float64], t: NDArray[np.float64], loss: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What rounding errors of a loss scale with: by default the loss itself."""
        return np.abs(loss)

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths = (32_771, 49_999, 65_535) if size_set is SizeSet.CPU else (1_048_573, 4_194_319, 16_777_259)
        return loss_case.draw(rng, lengths, Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        predictions, targets = self.draw(case, rng)
        return {"predictions": predictions, "targets": targets, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": self.loss(*_pairs(inputs))}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        return {"output": self.magnitude(*_pairs(inputs), expected["output"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        places = some_elements(case["n"], rng)
        return None if places is None else Part(case, {"predictions": places, "targets": places, "output": places})

    def flops(self, case: Case) -> float:
        return self.flops_per_element * case["n"]


def _pairs(inputs: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return inputs["predictions"].astype(np.float64), inputs["targets"].astype(np.float64)
