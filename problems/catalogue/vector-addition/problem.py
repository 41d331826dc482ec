"""Vector addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.parts import some_elements

_case = CaseTemplate("n = {n}, {distribution}")


def _power(exponent: int, distribution: Distribution) -> Case:
    return Case(f"n = 2^{exponent}, {distribution}", {"n": 1 << exponent, "distribution": distribution})


class VectorAddition(Problem):
    """The sum of two vectors."""

    slug = "vector-addition"
    title = "Vector Addition"
    domains: ClassVar[Mapping[str, Domain]] = {"d_input1": ANY_SCALE, "d_input2": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("element-wise",)
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* d_input1, const float* d_input2, float* d_output, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"d_output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"d_input1": "n", "d_input2": "n", "d_output": "n"}
    tolerance = Tolerance(1.0, "1 unit of eps * |sum|: one fp32 addition, correctly rounded, errs by half of that.")
    sizes = Sizes(
        cpu=(
            _power(18, Distribution.NORMAL),
            _case(100_003, Distribution.WIDE),
            _case(65_537, Distribution.SMALL),
            _case(63, Distribution.UNIFORM),
        ),
        gpu=(
            _power(20, Distribution.NORMAL),
            _power(22, Distribution.WIDE),
            _power(23, Distribution.SMALL),
            _power(25, Distribution.UNIFORM),
            _power(26, Distribution.LARGE),
            _power(28, Distribution.NORMAL),
            _power(30, Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (99_991, 131_071, 131_073, 196_613), Distribution)
        return _case.draw(rng, (1_048_573, 4_194_319, 16_777_259), Distribution)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        vectors = {name: self.sampled(name, case, rng) for name in ("d_input1", "d_input2")}
        return {**vectors, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"d_output": np.add(inputs["d_input1"], inputs["d_input2"], dtype=np.float64)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        places = some_elements(case["n"], rng)
        return None if places is None else Part(case, {"d_input1": places, "d_input2": places, "d_output": places})

    def flops(self, case: Case) -> float:
        return float(case["n"])


PROBLEM = VectorAddition()
