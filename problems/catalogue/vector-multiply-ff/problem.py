"""Element-wise products in a finite field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.finite_field import MERSENNE_31, residues
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.parts import some_elements
from problems.kit.rounding import EXACT

_case = CaseTemplate("n = {n:,}, random")


def _power_case(exponent: int) -> Case:
    return Case(f"n = 2^{exponent}, random", {"n": 2**exponent})


class VectorMultiplyFf(Problem):
    """`d_output[i] = d_input1[i] * d_input2[i]` modulo 2^31 - 1."""

    slug = "vector-multiply-ff"
    title = "Vector Multiplication in a Finite Field"
    difficulty = Difficulty.MEDIUM
    tags = ("cryptography", "element-wise")
    signature = "const uint32_t* d_input1, const uint32_t* d_input2, uint32_t* d_output, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"d_output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"d_input1": "n", "d_input2": "n", "d_output": "n"}
    tolerance = EXACT
    sizes = Sizes(
        cpu=(_power_case(18), _case(100_003), _case(4097)),
        gpu=(_power_case(20), _power_case(22), _power_case(24), _power_case(25)),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        public = 2**17 if size_set is SizeSet.CPU else 2**22
        return _case(int(rng.integers(public, 2 * public)) | 1)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        factors = {name: residues(MERSENNE_31, (case["n"],), rng, np.uint32) for name in ("d_input1", "d_input2")}
        return {**factors, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        products = inputs["d_input1"].astype(np.uint64) * inputs["d_input2"].astype(np.uint64)
        return {"d_output": (products % np.uint64(MERSENNE_31)).astype(np.uint32)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        places = some_elements(case["n"], rng)
        return None if places is None else Part(case, dict.fromkeys(("d_input1", "d_input2", "d_output"), places))

    def flops(self, case: Case) -> float:
        return 2.0 * case["n"]


PROBLEM = VectorMultiplyFf()
