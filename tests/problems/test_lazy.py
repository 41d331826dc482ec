from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.definition import Problem
from problems.kit.distributions import TILE_ELEMENTS
from problems.kit.element_types import ELEMENT_TYPES
from problems.library.catalogue import Catalogue
from problems.library.lazy import Call, lazy_answers
from problems.library.variants import variant_of

Answers = dict[str, NDArray[np.float32]]

NINE = {
    "zero",
    "constant",
    "input copy",
    "mean",
    "99 % of the work",
    "stale memory",
    "wrong last tile",
    "low precision",
    "previous call's answer",
}


@pytest.fixture
def call_of(catalogue: Catalogue) -> Callable[[str], Call]:
    def draw(slug: str) -> Call:
        problem = catalogue.get(slug).problem
        return Call.draw(problem, problem.sizes.cpu[0], np.random.default_rng(1))

    return draw


def dtypes_read(problem: Problem) -> set[np.dtype[Any]]:
    return {parameter.dtype for parameter in problem.parameters if parameter.pointer and not parameter.output}


def answers_to(call: Call) -> Answers:
    (output,) = call.problem.outputs
    return {name: outputs[output] for name, outputs in lazy_answers(call, np.random.default_rng(2))}


def test_all_nine_lazy_kernels_answer_in_the_outputs_type_and_shape(catalogue: Catalogue) -> None:
    for entry in catalogue.entries():
        problem = entry.problem
        dtypes = {parameter.name: parameter.dtype for parameter in problem.parameters}
        call = Call.draw(problem, problem.sizes.cpu[0], np.random.default_rng(1))
        answers = list(lazy_answers(call, np.random.default_rng(2)))
        unfit = set() if np.dtype(np.float32) in dtypes_read(problem) else {"low precision"}
        assert {name.split(" (")[0] for name, _ in answers} == NINE - unfit
        for _, outputs in answers:
            assert {name: values.shape for name, values in outputs.items()} == problem.output_shapes(call.case)
            assert all(values.dtype == dtypes[name] for name, values in outputs.items())


def test_a_wrong_last_tile_is_right_everywhere_else(call_of: Callable[[str], Call]) -> None:
    call = call_of("relu")
    answer, right = (
        answers_to(call)["wrong last tile (of the outputs)"].reshape(-1),
        call.expected["output"].reshape(-1),
    )
    assert np.array_equal(answer[:-TILE_ELEMENTS], right[:-TILE_ELEMENTS].astype(np.float32))
    assert not np.array_equal(answer[-TILE_ELEMENTS:], right[-TILE_ELEMENTS:].astype(np.float32))


def test_skipped_work_sums_99_percent_of_the_terms(call_of: Callable[[str], Call]) -> None:
    call = call_of("sum-dim")
    skipped = answers_to(call)["99 % of the work (every 100th of the input)"]
    partial = call.without(slice(0, None, 100))["input"]
    assert np.count_nonzero(partial == 0) == pytest.approx(partial.size / 100, rel=0.01)
    assert 0 < np.count_nonzero(skipped != call.expected["output"].astype(np.float32)) <= skipped.size


def test_stale_memory_is_zero_where_the_output_starts_at_zero(call_of: Callable[[str], Call]) -> None:
    assert not answers_to(call_of("histogram"))["stale memory"].any()
    assert len(np.unique(answers_to(call_of("argmax"))["stale memory"])) > 1


def test_the_previous_answer_is_right_for_other_inputs(call_of: Callable[[str], Call]) -> None:
    call = call_of("argmax")
    previous = answers_to(call)["previous call's answer"]
    assert not np.array_equal(previous, call.expected["output"])
    assert previous.max() < call.case.values["shape"][call.case.values["dim"]]


@pytest.mark.parametrize(
    ("dtype", "narrower"),
    [("float32", ["bfloat16", "float16"]), ("float16", ["bfloat16", "float8_e4m3fn"]), ("bfloat16", ["float8_e4m3fn"])],
)
def test_low_precision_is_lower_than_the_problems_own(catalogue: Catalogue, dtype: str, narrower: list[str]) -> None:
    problem = variant_of(catalogue.get("relu").problem, dtype)
    call = Call.draw(problem, problem.sizes.cpu[0], np.random.default_rng(1))
    answers = {name: outputs["output"] for name, outputs in lazy_answers(call, np.random.default_rng(2))}
    assert [name for name in answers if name.startswith("low")] == [f"low precision ({name})" for name in narrower]
    for name in narrower:
        exact, rounded = call.inputs["input"].astype(np.float64), answers[f"low precision ({name})"].astype(np.float64)
        error = np.abs(rounded - exact)[(exact > 2.0**-6) & (exact < 448)].max()
        assert 0 < error <= 448 * ELEMENT_TYPES[name].eps / 2


def test_the_mean_of_many_squares_is_no_constant(catalogue: Catalogue) -> None:
    """2 in 3 means of the largest tensors lie within their deviation; the tolerance must be smaller than that."""
    problem = catalogue.get("mse-loss").problem
    for case in problem.sizes.gpu:
        small = replace(case, values={**case.values, "shape": (1 << 16,)})
        inputs = problem.inputs(small, np.random.default_rng(2))
        squares = np.square(np.subtract(inputs["predictions"], inputs["targets"], dtype=np.float64))
        mean, count = squares.mean(keepdims=True), prod(case.values["shape"])
        [condition] = problem.condition(case, inputs, {"output": mean}).values()
        granted = problem.tolerance.units * float(np.finfo(np.float32).eps) * condition
        assert granted < squares.std() / sqrt(count) / 2, case.name
