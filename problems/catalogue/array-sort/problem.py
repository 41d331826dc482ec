"""Sorting integers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.chaining import ChainRule, integers
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.rounding import EXACT

_BEYOND = 1_000_000_000
_FEW = 100


class Order(StrEnum):
    """What the numbers look like."""

    RANDOM = "random"
    """All alike likely, from 1 to 999,999,999."""
    FEW = "few values"
    """A hundred different ones, again and again."""
    FALLING = "falling"
    """In order, the wrong way round."""


_case = CaseTemplate("size_{n}, {order}")


class ArraySort(Problem):
    """The same integers in ascending order."""

    slug = "array-sort"
    title = "Array Sort"
    difficulty = Difficulty.EASY
    tags = ("sorting",)
    signature = "const int* a, int* b, size_t n"
    chain: ClassVar[Mapping[str, ChainRule]] = {"a": integers(1, 1_000_000_000)}
    outputs: ClassVar[Mapping[str, Initial]] = {"b": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"a": "n", "b": "n"}
    forbidden = ("sorting",)
    tolerance = EXACT
    sizes = Sizes(
        cpu=(
            _case(16_384, Order.RANDOM),
            _case(32_768, Order.FALLING),
            _case(65_536, Order.FEW),
        ),
        gpu=(
            _case(16_384, Order.RANDOM),
            _case(32_768, Order.FALLING),
            _case(65_536, Order.FEW),
            _case(131_072, Order.RANDOM),
            _case(262_144, Order.RANDOM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        exponents = (13, 15, 17) if size_set is SizeSet.CPU else (15, 17, 19, 20)
        return _case(2 ** int(rng.choice(exponents)), tuple(Order)[rng.integers(len(Order))])

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        n: int = case["n"]
        order = case["order"]
        values = rng.integers(1, _BEYOND, n, np.int32)
        if order is Order.FEW:
            values = rng.choice(values[:_FEW], n)
        if order is Order.FALLING:
            values = np.sort(values)[::-1].copy()
        return {"a": values, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"b": np.sort(inputs["a"])}

    def flops(self, case: Case) -> float:
        # As many comparisons as tell all orders of n numbers apart take log2(n!), but a radix sort makes none.
        return float(case["n"])


PROBLEM = ArraySort()
