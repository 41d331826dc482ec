"""A problem of our own, with arguments of every kind: outputs, one of them zeroed, scalars, a host shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Case, Difficulty, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import SizesOnly
from problems.kit.signature import Initial


class MixedProblem(Problem):
    """Scales a matrix of int16 and adds up its columns; remembers the inputs that were drawn."""

    slug = "mixed"
    title = "Mixed"
    difficulty = Difficulty.EASY
    signature = (
        "const int16_t* x, double alpha, uint8_t step, const int* shape, half offset, float* scaled, "
        "int64_t* sums, size_t rows"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"scaled": Initial.POISON, "sums": Initial.ZERO}
    host_readable = frozenset({"shape"})
    tolerance = Tolerance(2.0, "two roundings")
    sizes = Sizes(
        cpu=(Case("7x3", {"rows": 7, "columns": 3}), Case("31x64", {"rows": 31, "columns": 64})),
        gpu=(Case("7x3", {"rows": 7, "columns": 3}),),
    )

    def __init__(self) -> None:
        self.drawn: list[bytes] = []
        self.breaks = False

    def find(self, slug: str) -> Problem:
        """This problem, whatever it is called."""
        del slug
        return self

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        del size_set
        return Case("hidden", {"rows": int(rng.integers(1, 50)), "columns": 17})

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        rows, columns = case.values["rows"], case.values["columns"]
        x = rng.integers(-1000, 1000, (rows, columns)).astype(np.int16)
        if not isinstance(rng, SizesOnly):
            self.drawn.append(x.tobytes())
        return {
            "x": x,
            "alpha": float(rng.random()),
            "step": int(rng.integers(1, 255)),
            "shape": np.array([rows, columns], np.int32),
            "offset": 0.5,
            "rows": rows,
        }

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"scaled": (case.values["rows"], case.values["columns"]), "sums": (case.values["columns"],)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        del case
        if self.breaks:
            raise ZeroDivisionError
        x = inputs["x"].astype(np.float64)
        return {
            "scaled": x * inputs["alpha"] + inputs["step"] + inputs["offset"],
            "sums": inputs["x"].astype(np.int64).sum(axis=0),
        }

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        del case
        magnitude = np.abs(inputs["x"] * inputs["alpha"]) + inputs["step"] + inputs["offset"]
        return {"scaled": magnitude, "sums": np.abs(expected["sums"])}

    def flops(self, case: Case) -> float:
        return 3.0 * case.values["rows"] * case.values["columns"]

    def bytes(self, case: Case) -> float:
        return 6.0 * case.values["rows"] * case.values["columns"]


MIXED_SOLUTION = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <stdint.h>

__global__ void mix(const int16_t* x, double alpha, unsigned step, const int* shape, float offset, float* scaled,
                    int64_t* sums) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= shape[1]) return;
  for (int row = 0; row < shape[0]; ++row) {
    const int at = row * shape[1] + column;
    scaled[at] = static_cast<float>(x[at] * alpha + step + offset);
  }
  int64_t sum = 0;
  for (int row = 0; row < shape[0]; ++row) sum += x[row * shape[1] + column];
  sums[column] += sum;
}

extern "C" void solution(const int16_t* x, double alpha, uint8_t step, const int* shape, half offset, float* scaled,
                         int64_t* sums, size_t rows) {
  const int columns = shape[1];
  if (static_cast<size_t>(shape[0]) != rows) return;
  mix<<<(columns + 31) / 32, 32>>>(x, alpha, step, shape, __half2float(offset), scaled, sums);
}
"""
