"""What the problems that work along one dimension of a tensor of any shape share."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.distributions import SPIKE_FACTOR, Distribution, any_distribution, scaled
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.parts import grid, some_pieces

tensor_case = CaseTemplate("shape={shape}, dim={dim}, {distribution}")

CPU_CASES = (
    tensor_case((16, 64, 96), 1, Distribution.NORMAL),
    tensor_case((12, 65, 127), 0, Distribution.POSITIVE),
    tensor_case((8, 31, 509), 2, Distribution.WIDE),
    tensor_case((5, 7, 11, 257), 3, Distribution.SMALL),
    tensor_case((97, 101), 0, Distribution.UNIFORM),
)

REDUCTION_SIZES = Sizes(
    cpu=CPU_CASES,
    gpu=(
        tensor_case((16, 128, 256), 1, Distribution.NORMAL),
        tensor_case((32, 512, 512), 0, Distribution.POSITIVE),
        tensor_case((8, 1024, 1024), 2, Distribution.WIDE),
        tensor_case((64, 128, 128, 128), 2, Distribution.NORMAL),
        tensor_case((4, 256, 256, 256), 1, Distribution.UNIFORM),
        tensor_case((128, 64, 64, 64), 3, Distribution.SMALL),
    ),
)

_HIDDEN_LENGTHS = {SizeSet.CPU: (3, 13, 37, 61), SizeSet.GPU: (61, 127, 251, 383)}


class AlongDim(Problem):
    """Reads `input` of shape `shape` along `dim`; by default the result keeps that dimension with length 1."""

    signature = "const float* input, int dim, float* output, const size_t* shape, size_t ndim"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    host_readable = frozenset({"shape"})
    sizes = REDUCTION_SIZES
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY_SCALE}
    flops_per_element: ClassVar[float]
    scale: ClassVar[float] = 1.0
    spike: ClassVar[float] = SPIKE_FACTOR

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        others = int(rng.integers(1, 3))
        shape = tuple(int(length) for length in rng.choice(_HIDDEN_LENGTHS[size_set], others))
        distribution = any_distribution(rng)
        return tensor_case((*shape, int(rng.choice((65, 97, 129)))), int(rng.integers(0, others + 1)), distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        shape = case["shape"]
        dtype = next(parameter.dtype for parameter in self.parameters if parameter.name == "shape")
        values = self.sampled("input", case, rng, self.spike)
        return {
            "input": scaled(values, self.scale),
            "shape": np.array(shape, dtype),
            "ndim": len(shape),
            **self.scalars(case),
        }

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"input": case["shape"]}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        shape = list(case["shape"])
        shape[case["dim"]] = 1
        return {"output": tuple(shape)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        shape: tuple[int, ...] = case["shape"]
        dim: int = case["dim"]
        length, inner = shape[dim], prod(shape[dim + 1 :])
        lines = some_pieces(prod(shape[:dim]) * inner, length, rng)
        if lines is None:
            return None
        begins = lines // inner * (length * inner) + lines % inner
        places = grid(begins, np.arange(length) * inner, 1)
        is_reduced = self.output_shapes(case)["output"] != shape
        part = Case(case.name, {**case.values, "shape": places.shape, "dim": 1})
        return Part(part, {"input": places, "output": lines[:, None] if is_reduced else places})

    def flops(self, case: Case) -> float:
        return self.flops_per_element * prod(case["shape"])


def in_float64(inputs: Mapping[str, Any]) -> NDArray[np.float64]:
    """The tensor `input` in fp64."""
    return inputs["input"].astype(np.float64)
