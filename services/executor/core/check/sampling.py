"""The sample: one small case, shown with its input, its output and what was expected."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from services.executor.core.launching.launched_problem import shown
from services.executor.core.model.events import Sample
from services.executor.core.problem_host.authors_problem import AuthorsProblem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from problems.kit.definition import Case, Problem
    from services.executor.core.check.checking import Checker
    from services.executor.core.check.progress import Progress

_MOST_SHOWN = 64
"""Elements of an array; of a larger one the corner nearest to index 0 is shown."""


def smallest(problem: Problem, cases: Sequence[Case]) -> Case:
    """The case with the least data, or the one that an author's definition has for it."""
    if isinstance(problem, AuthorsProblem) and problem.sample_case is not None:
        return problem.sample_case
    return min(cases, key=problem.bytes)


async def show_sample(checker: Checker, case: Case, progress: Progress) -> None:
    """Make one call and show it; raises Failure when its outputs are wrong, after having kept the sample."""
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
    """{name: scalar or nested list}."""
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
