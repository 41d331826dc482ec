"""The product of two polynomials over a finite field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.finite_field import MERSENNE_31, residues
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.rounding import EXACT

_LOW_BITS = 16
_MOST_COEFFICIENTS = 1024


_case = CaseTemplate("n = {n}, random")


def _power_case(exponent: int) -> Case:
    return Case(f"n = 2^{exponent}, random", {"n": 2**exponent})


class PolyMultiplyFf(Problem):
    """Coefficients modulo 2^31 - 1; the product has 2 n - 1 of them."""

    slug = "poly-multiply-ff"
    title = "Polynomial Multiplication in a Finite Field"
    difficulty = Difficulty.MEDIUM
    tags = ("cryptography", "convolution")
    signature = "const uint32_t* d_input1, const uint32_t* d_input2, uint32_t* d_output, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"d_output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"d_input1": "n", "d_input2": "n", "d_output": "2 * n - 1"}
    tolerance = EXACT
    sizes = Sizes(
        cpu=(_power_case(6), _power_case(8), _case(509), _case(131)),
        gpu=(_power_case(6), _power_case(8), _power_case(10)),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        del size_set
        return _case(int(rng.choice((61, 127, 257, 641, _MOST_COEFFICIENTS - 3))))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        factors = {name: residues(MERSENNE_31, (case["n"],), rng, np.uint32) for name in ("d_input1", "d_input2")}
        return {**factors, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """In two halves: 1,024 products of 15 or 16 bits with 31 stay below 2^57, where whole ones would overflow."""
        one, other = inputs["d_input1"].astype(np.uint64), inputs["d_input2"].astype(np.uint64)
        prime, low_bits = np.uint64(MERSENNE_31), np.uint64(_LOW_BITS)
        high = np.convolve(one >> low_bits, other) % prime
        low = np.convolve(one & np.uint64(2**_LOW_BITS - 1), other)
        return {"d_output": (((high << low_bits) + low) % prime).astype(np.uint32)}

    def flops(self, case: Case) -> float:
        return 2.0 * case["n"] ** 2


PROBLEM = PolyMultiplyFf()
