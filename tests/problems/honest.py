"""Compares honest answers, written unlike the references, with every public and a few hidden cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.definition import SizeSet
from problems.library.catalogue import Catalogue
from problems.library.lazy import Call

Inputs = dict[str, Any]
Outputs = NDArray[Any] | Mapping[str, NDArray[Any]]
Answer = Callable[[Inputs], Outputs]

HIDDEN_CASES = 6


def wrong_cases(catalogue: Catalogue, slug: str, answer: Answer) -> list[str]:
    """The cases that the answer gets wrong; `answer` returns the outputs by name, or the only one."""
    problem = catalogue.get(slug).problem
    hidden = [problem.hidden_case(SizeSet.CPU, np.random.default_rng(seed)) for seed in range(HIDDEN_CASES)]
    calls = (
        Call.draw(problem, case, np.random.default_rng(crc32(case.name.encode())))
        for case in (*problem.sizes.cpu, *hidden)
    )
    return [call.case.name for call in calls if mismatches(call, answer)]


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
