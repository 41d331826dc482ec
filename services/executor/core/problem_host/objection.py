"""The objection of an author's own check to outputs that our rules let pass."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Case, Problem
from services.executor.core.model.events import Mismatch, WrongAnswer
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.authors_problem import AuthorsProblem
from services.executor.core.problem_host.host import shown

_MOST_SHOWN = 10
_SMALL = 0.1
"""A share of the largest input. Smaller outputs may be rounding errors, and zero is just as right for them."""
_MOST_SAID = 300
_MOST_DETAILS = 4000


def objection(
    problem: Problem,
    case: Case,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, NDArray[Any]],
    expected: Mapping[str, NDArray[Any]],
) -> Failure | None:
    """WRONG_ANSWER if the definition's `verify_result` says so, or nothing was written; else None."""
    if not isinstance(problem, AuthorsProblem):
        return None
    answer = problem.verdict(case, inputs, outputs)
    if answer.get("right") is True:
        if not _is_unwritten(inputs, outputs, expected):
            return None
        message = (
            f"Case `{case.name}`: the outputs are all zero, as before the call. The problem definition's verify_result "
            "allows an error that is larger than the right outputs"
        )
    else:
        debug: Any = answer.get("debug")
        said = cast("dict[str, Any]", debug).get("message", "") if isinstance(debug, dict) else ""
        message = f"Case `{case.name}`: the problem definition's verify_result says that the outputs are wrong"
        if said:
            message += f" ({shown(said, _MOST_SAID)})"
    wrong = _differences(outputs, expected)
    return Failure(
        Verdict.WRONG_ANSWER,
        f"{message}; the largest difference is {wrong.max_difference:.4g}.",
        details=_reported(answer.get("debug")),
        wrong_answer=wrong,
    )


def _is_unwritten(
    inputs: Mapping[str, Any], outputs: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]
) -> bool:
    """True if all outputs are still the zeros from before the call, and the right ones are not small."""
    if any(output.astype(np.float64).any() for output in outputs.values()):
        return False
    arrays = [np.asarray(value) for value in inputs.values() if np.ndim(value)]
    return _largest(expected.values()) > _SMALL * _largest(arrays)


def _largest(arrays: Iterable[NDArray[Any]]) -> float:
    sizes = [np.abs(array.astype(np.float64)) for array in arrays]
    return max((float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes), default=0.0)


def _reported(debug: object) -> str:
    try:
        return json.dumps(debug)[:_MOST_DETAILS]
    except RecursionError:
        return ""


def _differences(outputs: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]) -> WrongAnswer:
    """Compares outputs with the reference; the largest differences come first, as nobody knows which of them matter."""
    found: list[Mismatch] = []
    largest, total, count, unequal = 0.0, 0.0, 0, 0
    for name, output in outputs.items():
        with np.errstate(all="ignore"):
            difference = np.nan_to_num(
                output.astype(np.float64) - expected[name].astype(np.float64), posinf=0, neginf=0
            )
        size = np.abs(difference).reshape(-1)
        largest, total, count = max(largest, float(size.max(initial=0.0))), total + float(size.sum()), count + size.size
        unequal += int(np.count_nonzero(size))
        for at in np.argsort(size)[::-1][:_MOST_SHOWN]:
            index = tuple(map(int, np.unravel_index(int(at), output.shape)))
            right, got = float(expected[name].reshape(-1)[at]), float(output.reshape(-1)[at])
            if size[at] or not math.isfinite(right):
                found.append(Mismatch(name, index, right, got, got - right))
    return WrongAnswer(largest, total / count if count else 0.0, unequal, count, tuple(found[:_MOST_SHOWN]))
