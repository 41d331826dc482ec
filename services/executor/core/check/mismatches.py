"""Failures of outputs, guards and inputs, in words that help the author."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import BIAS_SHARE, Comparison
from problems.kit.definition import Case, Tolerance
from problems.kit.imprecision import Precision
from services.executor.core.call.layout import GUARD_BYTES, Region
from services.executor.core.compile.cpp_tokens import Name, words
from services.executor.core.model.events import Mismatch, WrongAnswer
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict

_MOST_SHOWN = 10
_LANES = 64
"""Lanes of a wavefront on CDNA."""
_ACROSS_LANES = re.compile(
    r"__(?:shfl|ballot|any|all|activemask|match|reduce|lanemask|lane_id)\w*"
    r"|__builtin_amdgcn_(?:ballot|ds_b?permute|ds_swizzle|mbcnt|mov_dpp|readlane|update_dpp|wave)\w*"
)
RACE_HINT = (
    "Look for memory that is read before it is written, for a missing __syncthreads or other races, and for "
    "floating-point atomics, which add up in any order."
)
"""The usual reasons why two calls differ."""
_APPROXIMATION_HINT = (
    "The errors are smaller than those of narrower arithmetic: look for constants with too few digits, for "
    "approximations of functions, and for terms that are left out."
)
_NAN_HINT = (
    "NaN lies on both sides of every input of floats: look for an index that leaves its array. "
    "`wavepool core check --memcheck` names the line, also of values that were never written."
)
"""Advice about a NaN that should be a number."""


def lanes_advice(source: str, lanes: int) -> str:
    """Returns a further sentence for a wrong answer whose source works across the lanes of a wavefront.

    `lanes` is the device's number. The sentence is empty if that is an MI300X's 64, or if the source does not work
    across lanes.
    """
    if lanes == _LANES:
        return ""
    found = next(
        (word for word in words(source) if isinstance(word, Name) and _ACROSS_LANES.fullmatch(word.text)), None
    )
    if found is None:
        return ""
    return (
        f" Wavefronts of this device have {lanes} lanes, an MI300X's {_LANES}: `{found.text}` (line {found.line})"
        f" works across lanes, so steps, masks and widths for {_LANES} may be what is wrong here, and here alone."
    )


def judged(
    case: Case,
    comparisons: Mapping[str, Comparison],
    unwritten: Mapping[str, int],
    precisions: Mapping[str, Precision],
    tolerance: Tolerance,
) -> Failure:
    """The verdict on outputs that are not right: PRECISION if that explains all of it, otherwise WRONG_ANSWER.

    `precisions` are those of the outputs that failed.
    """
    explained = (
        comparisons[name].mismatches == 0 or precision.format or precision.is_close
        for name, precision in precisions.items()
    )
    if not any(unwritten.values()) and all(explained):
        return _imprecise(case, comparisons, precisions, tolerance)
    return wrong_answer(case, comparisons, unwritten)


def wrong_answer(case: Case, comparisons: Mapping[str, Comparison], unwritten: Mapping[str, int]) -> Failure:
    """The verdict on outputs of which at least one has a mismatch; `unwritten` counts elements left as they were."""
    wrong = {name: comparison for name, comparison in comparisons.items() if comparison.mismatches}
    sentences = [_sentence(name, comparison) for name, comparison in wrong.items()]
    sentences += [
        f"{count:,}{' or more' if comparisons[name].of_elements else ''} elements of `{name}` were never written: "
        "check that the grid covers all of it, and that `solution` leaves none of it to a thread that it does not join."
        for name, count in unwritten.items()
        if count
    ]
    # Elements that were never written hold random bits, which are NaN now and then.
    if any(comparison.unexpected_nans for comparison in wrong.values()) and not any(unwritten.values()):
        sentences.append(_NAN_HINT)
    failure = Failure(
        Verdict.WRONG_ANSWER, f"Case `{case.name}`: {' '.join(sentences)}", wrong_answer=_details(comparisons)
    )
    failure.is_unwritten = all(unwritten.get(name) == comparison.mismatches for name, comparison in wrong.items())
    return failure


def _imprecise(
    case: Case, comparisons: Mapping[str, Comparison], precisions: Mapping[str, Precision], tolerance: Tolerance
) -> Failure:
    sentences = [_measured(name, precision) for name, precision in precisions.items()]
    formats = sorted({precision.format for precision in precisions.values() if precision.format})
    is_close = any(precision.is_close for precision in precisions.values())
    reason = formats[0] if formats else "approximation" if is_close else "bias"
    cause = f"The errors are those of {reason} arithmetic" if formats else "The errors lean to one side"
    advice = (
        _APPROXIMATION_HINT
        if reason == "approximation"
        else f"{cause}: keep terms, products and accumulators in the problem's own type or a wider one, and round to "
        "nearest, once, at the end."
    )
    message = f"Case `{case.name}`: {' '.join(sentences)} {advice}"
    return Failure(
        Verdict.PRECISION,
        message,
        reason=reason,
        details=f"A unit is eps * condition. The problem's rule: {tolerance.rule}",
        wrong_answer=_details(comparisons),
    )


def _measured(name: str, precision: Precision) -> str:
    allowed = precision.allowed_units
    return (
        f"`{name}` is close, but less precise than asked: its largest error is {precision.max_units:.3g} units, "
        f"99.9 % are within {precision.p999_units:.3g}, and the mean of the signed errors is "
        f"{precision.bias_units:.3g}; allowed are {allowed:.3g} for each, and {BIAS_SHARE * allowed:.3g} for the mean."
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


def modified_input(
    case: Case, region: Region, actual: NDArray[Any], before: NDArray[Any], places: NDArray[np.int64] | None
) -> Failure:
    """The verdict on a read-only input that has changed; `places` are those of its elements, if it is a part."""
    name, size = region.parameter.name, region.parameter.dtype.itemsize
    changed = actual.reshape(-1).view(np.uint8) != np.ascontiguousarray(before).reshape(-1).view(np.uint8)
    at = int(np.argmax(changed)) // size
    at = at if places is None else int(places.reshape(-1)[at])
    message = (
        f"Case `{case.name}`: the read-only input `{name}` was changed, first at `{name}[{at}]`: write to outputs and "
        "to memory of your own only."
    )
    return Failure(Verdict.INPUT_MODIFIED, message)


def nondeterministic(case: Case, name: str, first: NDArray[Any], second: NDArray[Any]) -> Failure:
    """The verdict on two answers to the same inputs that differ, though each is right by itself."""
    flat = [np.ascontiguousarray(array).reshape(-1) for array in (first, second)]
    size = flat[0].dtype.itemsize
    bits = [array.view(np.uint8).reshape(-1, size) for array in flat]
    wrong = np.flatnonzero((bits[0] != bits[1]).any(axis=1))
    at = int(wrong[0])
    index = ", ".join(str(part) for part in np.unravel_index(at, first.shape))
    message = (
        f"Case `{case.name}`: two calls with the same inputs gave different answers: {wrong.size:,} elements of "
        f"`{name}` differ, the first at ({index}): {float(flat[0][at]):.9g}, then {float(flat[1][at]):.9g}. {RACE_HINT}"
    )
    return Failure(Verdict.NONDETERMINISTIC, message)


def another_answer(case: Case, *, nondeterministic: bool) -> Failure:
    """The verdict on a timed call that gave another answer, a right one, when it was made again."""
    how = "answers that are farther apart than two right ones can be" if nondeterministic else "different answers"
    message = (
        f"Case `{case.name}`: two calls with the same inputs, a timed one and the same in another process, gave {how}. "
        f"{RACE_HINT}"
    )
    return Failure(Verdict.NONDETERMINISTIC, message)


def late_answer(case: Case) -> Failure:
    """The verdict on a right answer that was not there yet when the call was said to have ended."""
    message = (
        f"Case `{case.name}`: an output changed after the call was said to be done: do all work on streams that the "
        "default stream waits for, and start no work that goes on after `solution` has returned."
    )
    return Failure(Verdict.TIMING_INVALID, message)


def _sentence(name: str, comparison: Comparison) -> str:
    first = comparison.first[0]
    index = ", ".join(map(str, first.index))
    seen = f", of those {comparison.elements:,} that were looked at" if comparison.of_elements else ""
    elements = comparison.of_elements or comparison.elements
    return (
        f"{comparison.mismatches:,} of {elements:,} elements of `{name}` are wrong{seen}, the first at "
        f"({index}): expected {first.expected:.9g}, got {first.actual:.9g}{_largest(comparison)}."
    )


def _largest(comparison: Comparison) -> str:
    """Names the largest difference, if there is one; differences from NaN and infinities are not in it."""
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
