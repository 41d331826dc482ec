"""The sample: one small case, shown with its input, its output and the expected output."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Case, Problem
from services.executor.core.check.checking import Checker
from services.executor.core.check.run_verdict import Progress
from services.executor.core.launching.launched_problem import shown
from services.executor.core.model.events import Sample
from services.executor.core.problem_host.authors_problem import AuthorsProblem

_MOST_SHOWN = 64
"""The most elements of an array that are shown; of a larger array it is the corner nearest to index 0."""


def smallest(problem: Problem, cases: Sequence[Case]) -> Case:
    """Returns the case with the least data, or the sample case of an author's definition, if it has one."""
    if isinstance(problem, AuthorsProblem) and problem.sample_case is not None:
        return problem.sample_case
    return min(cases, key=problem.bytes)


async def show_sample(checker: Checker, case: Case, progress: Progress) -> None:
    """Makes one call and keeps its sample in `progress`; then raises Failure if the outputs are wrong."""
    judge = checker.judge(case, 0)
    trial = judge.draw(0)
    await checker.make(judge, trial)
    outputs = judge.collect(checker.session.channel, trial)
    failure = judge.fault(trial, outputs)
    progress.sample = Sample(
        input_json=values_json(shown(checker.problem, trial.inputs)),
        output_json=values_json(outputs),
        expected_output_json=values_json(judge.expected(trial)),
        passed=failure is None,
    )
    if failure is not None:
        raise failure


def values_json(values: Mapping[str, Any]) -> str:
    """Returns a JSON object with a scalar or a nested list for each name; large arrays are cut to a corner."""
    return json.dumps({name: _plain(np.asarray(value)) for name, value in values.items()}, allow_nan=False)


def _plain(array: NDArray[Any]) -> object:
    if array.size > _MOST_SHOWN:
        edge = max(1, math.floor(_MOST_SHOWN ** (1 / array.ndim) + 1e-9))
        array = array[tuple(slice(edge) for _ in array.shape)]
    return _finite(array.tolist())


def _finite(value: Any) -> Any:  # noqa: ANN401  nested lists of any depth
    if isinstance(value, list):
        return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  the same
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
