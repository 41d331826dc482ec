"""Answers in fp32, written unlike the references: honest ones that are right everywhere, and others that must fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.definition import SizeSet
from problems.library.catalogue import Catalogue
from problems.library.lazy import Call

Inputs = dict[str, Any]
Answer = Callable[[Inputs], NDArray[Any] | Mapping[str, NDArray[Any]]]
"""Gives the outputs by name, or the only one."""
Test = Callable[[Catalogue, str, Answer], None]

F = np.float32
HIDDEN_CASES = 6


def are_right(*answers: tuple[str, Answer]) -> Test:
    """Makes a test: each answer passes every public case of its problem and a few hidden ones."""

    @pytest.mark.parametrize(("slug", "answer"), answers)
    def check(catalogue: Catalogue, slug: str, answer: Answer) -> None:
        assert list(wrong_cases(catalogue, slug, answer)) == []

    return check


def fail(*answers: tuple[str, int, Answer]) -> Callable[[Catalogue, str, int, Answer], None]:
    """Makes a test: each answer fails at least so many of those cases."""

    @pytest.mark.parametrize(("slug", "least", "answer"), answers)
    def check(catalogue: Catalogue, slug: str, least: int, answer: Answer) -> None:
        assert len(list(islice(wrong_cases(catalogue, slug, answer), least))) == least

    return check


def wrong_cases(catalogue: Catalogue, slug: str, answer: Answer) -> Iterator[str]:
    """The cases that the answer gets wrong, one after the other."""
    problem = catalogue.get(slug).problem
    hidden = [problem.hidden_case(SizeSet.CPU, np.random.default_rng(seed)) for seed in range(HIDDEN_CASES)]
    calls = (
        Call.draw(problem, case, np.random.default_rng(crc32(case.name.encode())))
        for case in (*problem.sizes.cpu, *hidden)
    )
    return (call.case.name for call in calls if mismatches(call, answer))


def mismatches(call: Call, answer: Answer) -> int:
    """Counts the elements that an answer gets wrong; at least 1 if its errors lean to one side.

    Fails if the answer has another type than the problem's output.
    """
    problem = call.problem
    with np.errstate(all="ignore"):
        outputs = answer(dict(call.inputs))
    if not isinstance(outputs, Mapping):
        (only,) = problem.outputs
        outputs = {only: outputs}
    condition = problem.condition(call.case, call.inputs, call.expected)
    dtypes = {parameter.name: parameter.dtype for parameter in problem.parameters}
    assert {name: values.dtype for name, values in outputs.items()} == {name: dtypes[name] for name in problem.outputs}
    comparisons = [
        compare(outputs[name], call.expected[name], condition[name], problem.tolerance, first=0)
        for name in problem.outputs
    ]
    return sum(max(comparison.mismatches, comparison.is_biased) for comparison in comparisons)


def fast_exp(x: NDArray[Any]) -> NDArray[Any]:
    """The hardware's exponential: two to the power of x times log2(e), both rounded to fp32."""
    return np.exp2((x * F(1.4426950408889634)).astype(F))


def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return F(1) / (F(1) + fast_exp(-x))


def running_sum(terms: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    """Sums with one fp32 accumulator: `cumsum` adds in order; `sum` would add in pairs."""
    return np.take(np.cumsum(terms, axis=axis, dtype=F), [-1], axis=axis)


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """All sums side by side, each one in order."""
    total = np.zeros((a.shape[0], b.shape[1]), F)
    for column, row in zip(a.T, b, strict=True):
        total += column[:, None] * row
    return total


def to_half(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.float16).astype(F)


def to_bfloat16(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(ml_dtypes.bfloat16).astype(F)
