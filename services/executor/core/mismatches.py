"""Failures of outputs, guards and inputs, in words that help their author."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from services.executor.core.events import Mismatch, WrongAnswer
from services.executor.core.failure import Failure
from services.executor.core.layout import GUARD_BYTES
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from problems.comparison import Comparison
    from problems.definition import Case
    from services.executor.core.layout import Region

_MOST_SHOWN = 10


def wrong_answer(case: Case, comparisons: Mapping[str, Comparison], unwritten: Mapping[str, int]) -> Failure:
    """The verdict on outputs of which at least one has a mismatch; `unwritten` counts elements left as they were."""
    wrong = {name: comparison for name, comparison in comparisons.items() if not comparison.passed}
    sentences = [_sentence(name, comparison) for name, comparison in wrong.items()]
    sentences += [
        f"{count:,} elements of `{name}` were never written: check that the grid covers all of it."
        for name, count in unwritten.items()
        if count
    ]
    return Failure(
        Verdict.WRONG_ANSWER, f"Case `{case.name}`: {' '.join(sentences)}", wrong_answer=_details(comparisons)
    )


def out_of_bounds(case: Case, region: Region, guard_byte: int, *, is_after: bool) -> Failure:
    """The verdict on a changed guard band; `guard_byte` is the first changed byte of it."""
    size = region.parameter.dtype.itemsize
    elements = region.data_bytes // size
    at = elements + guard_byte // size if is_after else -((GUARD_BYTES - guard_byte + size - 1) // size)
    name = region.parameter.name
    message = (
        f"Case `{case.name}`: memory beside `{name}` was written, at `{name}[{at}]` where it has {elements:,} "
        "elements: check the index against the size before writing."
    )
    return Failure(Verdict.OUT_OF_BOUNDS, message)


def modified_input(case: Case, region: Region, actual: NDArray[Any], before: NDArray[Any]) -> Failure:
    """The verdict on a read-only input that has changed."""
    name, size = region.parameter.name, region.parameter.dtype.itemsize
    changed = actual.reshape(-1).view(np.uint8) != np.ascontiguousarray(before).reshape(-1).view(np.uint8)
    at = int(np.argmax(changed)) // size
    message = (
        f"Case `{case.name}`: the read-only input `{name}` was changed, first at `{name}[{at}]`: write to outputs and "
        "to memory of your own only."
    )
    return Failure(Verdict.INPUT_MODIFIED, message)


def _sentence(name: str, comparison: Comparison) -> str:
    first = comparison.first[0]
    index = ", ".join(map(str, first.index))
    return (
        f"{comparison.mismatches:,} of {comparison.elements:,} elements of `{name}` are wrong, the first at "
        f"({index}): expected {first.expected:.9g}, got {first.actual:.9g}{_largest(comparison)}."
    )


def _largest(comparison: Comparison) -> str:
    """Said only where it says something: differences from NaN and infinities are not in it."""
    return f"; the largest difference is {comparison.max_difference:.4g}" if comparison.max_difference else ""


def _details(comparisons: Mapping[str, Comparison]) -> WrongAnswer:
    elements = sum(comparison.elements for comparison in comparisons.values())
    weighted = sum(comparison.mean_difference * comparison.elements for comparison in comparisons.values())
    first = tuple(
        Mismatch(name, item.index, float(item.expected), float(item.actual), float(item.difference))
        for name, comparison in comparisons.items()
        for item in comparison.first
    )
    return WrongAnswer(
        max_difference=max(comparison.max_difference for comparison in comparisons.values()),
        mean_difference=weighted / elements if elements else 0.0,
        mismatch_count=sum(comparison.mismatches for comparison in comparisons.values()),
        element_count=elements,
        first_mismatches=first[:_MOST_SHOWN],
    )
