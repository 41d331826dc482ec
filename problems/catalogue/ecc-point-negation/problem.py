"""Negation of points of an elliptic curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.finite_field import MERSENNE_61, residues
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.rounding import EXACT

_case = CaseTemplate("N = {n:,}, random")


class EccPointNegation(Problem):
    """(x, y) becomes (x, -y) in a field of 2^61 - 1 elements."""

    slug = "ecc-point-negation"
    title = "Elliptic Curve Point Negation"
    difficulty = Difficulty.EASY
    tags = ("cryptography", "element-wise")
    signature = "const uint64_t* xs, const uint64_t* ys, const uint64_t p, uint64_t* out_xy, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"out_xy": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"xs": "n", "ys": "n", "out_xy": "n, 2"}
    tolerance = EXACT
    sizes = Sizes(
        cpu=(_case(65_536), _case(100_003), _case(4097)),
        gpu=(_case(262_144), _case(524_288), _case(1_048_576), _case(2_097_152)),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        public = 2**16 if size_set is SizeSet.CPU else 2**19
        return _case(int(rng.integers(public, 2 * public)) | 1)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        xs, ys = (residues(MERSENNE_61, (case["n"],), rng, np.uint64) for _ in range(2))
        return {"xs": xs, "ys": ys, "p": MERSENNE_61, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        prime = np.uint64(inputs["p"])
        return {"out_xy": np.stack([inputs["xs"], (prime - inputs["ys"]) % prime], axis=1)}

    def flops(self, case: Case) -> float:
        return 2.0 * case["n"]


PROBLEM = EccPointNegation()
