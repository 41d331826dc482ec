"""Triplet margin loss."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.rounding import EPS

_MARGIN = 1.0
_UNITS = 2.0
_SHIFT = 1e-6
"""Added to every difference by the usual library, against a derivative of infinity at 0; many kernels leave it out."""


_case = CaseTemplate("batch={B}, embedding_dim={E}, {distribution}")


class TripletMargin(Problem):
    """The mean of `max(0, |a - p| - |a - n| + margin)` over triplets of vectors: one number."""

    slug = "triplet-margin"
    title = "Triplet Margin Loss"
    difficulty = Difficulty.MEDIUM
    tags = ("loss", "reduction")
    signature = (
        "const float* anchor, const float* positive, const float* negative, float* loss, size_t B, size_t E, "
        "float margin"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"loss": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"anchor": "B, E", "positive": "B, E", "negative": "B, E", "loss": "1"}
    nondeterministic = True
    tolerance = Tolerance(
        _UNITS,
        "2 units of eps * (mean((1 + sqrt(E)) * (|a - p| + |a - n|) + margin) + sqrt(B) * loss): sums of E and of B "
        "terms in any order. Plus what it makes to add 1e-6 to every difference.",
    )
    sizes = Sizes(
        cpu=(
            _case(16, 1024, Distribution.NORMAL, margin=_MARGIN),
            _case(31, 509, Distribution.UNIFORM, margin=_MARGIN),
            _case(64, 256, Distribution.WIDE, margin=_MARGIN),
            _case(7, 2053, Distribution.POSITIVE, margin=_MARGIN),
        ),
        gpu=(
            _case(128, 4096, Distribution.NORMAL, margin=_MARGIN),
            _case(256, 8192, Distribution.UNIFORM, margin=_MARGIN),
            _case(256, 16384, Distribution.WIDE, margin=_MARGIN),
            _case(512, 8192, Distribution.POSITIVE, margin=_MARGIN),
            _case(1024, 1024, Distribution.NORMAL, margin=_MARGIN),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        batches, lengths = ((5, 13, 37), (127, 513, 1021)) if size_set is SizeSet.CPU else ((127, 257), (4093, 8209))
        return _case.draw(rng, batches, lengths, Distribution, margin=_MARGIN)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        vectors = {name: self.sampled(name, case, rng) for name in ("anchor", "positive", "negative")}
        return {**vectors, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return _loss(inputs, _SHIFT)

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        return {"nothing added to the differences": _loss(inputs, 0.0)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        apart = [_apart(inputs, name, _SHIFT) for name in ("positive", "negative")]
        lengths = [np.maximum(np.linalg.norm(each, axis=1), _SHIFT) for each in apart]
        of_rows = (1.0 + sqrt(case["E"])) * (lengths[0] + lengths[1]) + inputs["margin"]
        shifts = [np.abs(each.sum(axis=1)) / length for each, length in zip(apart, lengths, strict=True)]
        shifted = _SHIFT * (shifts[0] + shifts[1]).mean()
        return {"loss": of_rows.mean() + sqrt(case["B"]) * expected["loss"] + shifted / (_UNITS * EPS)}

    def flops(self, case: Case) -> float:
        return 6.0 * case["B"] * case["E"]


def _loss(inputs: Mapping[str, Any], shift: float) -> dict[str, NDArray[Any]]:
    near, far = (np.linalg.norm(_apart(inputs, name, shift), axis=1) for name in ("positive", "negative"))
    return {"loss": np.maximum(0.0, near - far + inputs["margin"]).mean(keepdims=True)}


def _apart(inputs: Mapping[str, Any], name: str, shift: float) -> NDArray[np.float64]:
    return np.subtract(inputs["anchor"], inputs[name], dtype=np.float64) + shift


PROBLEM = TripletMargin()
