"""Cosine distance of the rows of two matrices."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, turned
from problems.kit.parts import some_pieces, within

_DISTRIBUTIONS = (Distribution.NORMAL, Distribution.UNIFORM, Distribution.POSITIVE, Distribution.WIDE)
_LENGTH_EPSILON = 1e-8
"""The least length that kernels may take a row to have: beside ours it does not count."""


_case = CaseTemplate("N={n}, D={d}, {distribution}")


class CosineSimilarity(Problem):
    """`1 - cos` of the angle between each row of predictions and that of targets."""

    slug = "cosine-similarity"
    title = "Cosine Similarity"
    difficulty = Difficulty.EASY
    tags = ("loss", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* predictions, const float* targets, float* output, size_t n, size_t d"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"predictions": "n, d", "targets": "n, d", "output": "n"}
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (1 + sqrt(d) * (|cos| + sum|p * t| / (|p| * |t|))): the three sums of d terms may be added "
        "in any order, and the subtraction from 1 rounds.",
    )
    sizes = Sizes(
        cpu=(
            _case(64, 1024, Distribution.NORMAL),
            _case(31, 1021, Distribution.POSITIVE),
            _case(257, 67, Distribution.UNIFORM),
            _case(5, 4096, Distribution.WIDE),
        ),
        gpu=(
            _case(4096, 4096, Distribution.NORMAL),
            _case(8192, 4096, Distribution.UNIFORM),
            _case(10240, 4096, Distribution.POSITIVE),
            _case(16384, 4096, Distribution.WIDE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        if size_set is SizeSet.CPU:
            return _case.draw(rng, (3, 61, 127), (61, 513, 1021), _DISTRIBUTIONS)
        return _case.draw(rng, (4093, 8209), (1021, 4099), _DISTRIBUTIONS)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        predictions, targets = (self.sampled(name, case, rng, spike=16.0) for name in ("predictions", "targets"))
        # Angles of all sizes: some rows nearly parallel, some nearly opposite.
        targets = turned(targets, predictions, rng)
        return {"predictions": predictions, "targets": targets, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        p, t, norms = _rows(inputs)
        return {"output": 1.0 - (p * t).sum(axis=1) / norms}

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        p, t, _ = _rows(inputs)
        lengths = [np.maximum(np.linalg.norm(rows, axis=1), _LENGTH_EPSILON) for rows in (p, t)]
        return {"lengths of at least 1e-8": {"output": 1.0 - (p * t).sum(axis=1) / (lengths[0] * lengths[1])}}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        p, t, norms = _rows(inputs)
        cosine = np.abs(1.0 - expected["output"])
        return {"output": 1.0 + sqrt(case["d"]) * (cosine + np.abs(p * t).sum(axis=1) / norms)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        rows = some_pieces(case["n"], case["d"], rng)
        if rows is None:
            return None
        places = within(rows, case["d"])
        return Part(case, {"predictions": places, "targets": places, "output": rows})

    def flops(self, case: Case) -> float:
        return 6.0 * case["n"] * case["d"]


def _rows(inputs: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Both matrices, and the product of the lengths of each pair of rows."""
    p, t = inputs["predictions"].astype(np.float64), inputs["targets"].astype(np.float64)
    norms = np.linalg.norm(p, axis=1) * np.linalg.norm(t, axis=1)
    # Rows of zeros have no angle; theirs is taken to be a right one.
    return p, t, np.maximum(norms, np.finfo(np.float64).tiny)


PROBLEM = CosineSimilarity()
