"""Commitments treat two answers as alike exactly if the problem accepts both."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.comparison import compare, unit_of
from problems.kit.definition import Case
from services.executor.core.call.commitment import Allowance, Commitment, Excerpt, allowance_of, are_alike
from services.executor.core.call.layout import EXCERPT_ELEMENTS
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.model.seeds import RunSeed
from services.executor.core.run.installation import catalogue, find_problem

NONDETERMINISTIC = sorted(slug for slug in catalogue().problems if find_problem(slug).nondeterministic)
FLOATS = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float64))


def _reported(**outputs: np.ndarray) -> Commitment:
    return Commitment(1, 1, outputs)


def _judge(slug: str) -> CaseJudge:
    problem = find_problem(slug)
    return CaseJudge(problem, min(problem.sizes.cpu, key=problem.flops), RunSeed("alike"), 0)


@pytest.mark.parametrize("slug", NONDETERMINISTIC)
def test_two_answers_at_either_end_of_a_problems_tolerance_are_alike(slug: str) -> None:
    judge = _judge(slug)
    trial, tolerance = judge.draw(1), judge.problem.tolerance
    expected, allowances = judge.expected(trial), judge.allowances(trial)
    condition = judge.problem.condition(judge.case, trial.inputs, expected)
    for name, region in trial.layout.outputs.items():
        dtype, values = region.parameter.dtype, expected[name]
        off = 0.4 * tolerance.units * np.broadcast_to(unit_of(dtype, condition[name], tolerance), values.shape)
        signs = np.where(np.arange(values.size).reshape(values.shape) % 2, 1.0, -1.0)
        ends = [(values + sign * signs * off).astype(dtype) for sign in (-1, 1)]
        assert not any(compare(end, values, condition[name], tolerance).mismatches for end in ends)
        assert are_alike(_reported(y=ends[0]), _reported(y=ends[1]), {"y": allowances[name]})


@pytest.mark.parametrize("slug", ["conv-2d", "gemm-relu", "l2-norm", "matrix-multiplication", "rms-norm", "sum-dim"])
def test_an_element_that_is_left_out_of_a_large_case_is_another_answer(slug: str) -> None:
    """Except for a few elements about as small as their tolerance, and those that were right anyway."""
    problem = find_problem(slug)
    for index, case in enumerate(problem.sizes.gpu[:3]):
        judge = CaseJudge(problem, case, RunSeed("left out"), index)
        loaded = judge.undrawn(1)
        if loaded is None or judge.part(loaded, 1) is None:
            continue
        first, second = (judge.remade(loaded, key, key) for key in (1, 2))
        allowances = judge.allowances(first)
        for name, values in judge.expected(second).items():
            sizes = np.abs(values[values != 0])
            assert np.mean(sizes > allowances[name].apart(np.zeros(()))) > 0.96, case.name


@given(st.integers(2, 6000), st.integers(0, 2**32), st.sampled_from([np.float32, np.float16]))
def test_sums_that_are_added_up_in_any_order_are_alike(terms: int, seed: int, dtype: type[np.floating]) -> None:
    random = np.random.default_rng(seed)
    a, b = (random.standard_normal(shape, np.float32) for shape in ((9, terms), terms))
    products = a * b
    orders = [products, products[:, random.permutation(terms)]]
    answers = [np.add.accumulate(order, axis=1, dtype=np.float32)[:, -1].astype(dtype) for order in orders]
    absolute, tolerance = np.abs(products).sum(axis=1, dtype=np.float64), find_problem("matrix-vector").tolerance
    granted = tolerance.units * unit_of(np.dtype(dtype), np.sqrt(terms) * absolute, tolerance)
    allowance = allowance_of(products.sum(axis=1, dtype=np.float64), granted)
    assert are_alike(_reported(y=answers[0]), _reported(y=answers[1]), {"y": allowance})


@pytest.mark.parametrize("narrow", [np.float16, ml_dtypes.bfloat16])
def test_a_product_in_narrow_floats_is_another_answer_than_in_single_precision(narrow: type[np.generic]) -> None:
    """A sum of all elements with signs does not detect half precision (decisions/0013)."""
    terms, lines, random = 1024, 64, np.random.default_rng(0)
    a, b = (random.standard_normal(shape, np.float32) for shape in ((lines, terms), (terms, lines)))
    exact, problem = a.astype(np.float64) @ b, find_problem("matrix-multiplication")
    case = Case("narrow", {**problem.sizes.cpu[0].values, "n": lines, "m": lines, "k": terms})
    condition = problem.condition(case, {"input_a": a, "input_b": b}, {"output_c": exact})["output_c"]
    granted = problem.tolerance.units * unit_of(a.dtype, condition, problem.tolerance)
    allowances = {"y": allowance_of(exact, granted)}
    wrong = (a.astype(narrow).astype(np.float64) @ b.astype(narrow).astype(np.float64)).astype(np.float32)
    assert are_alike(_reported(y=a @ b), _reported(y=a[:, ::-1] @ b[::-1]), allowances)
    assert not are_alike(_reported(y=a @ b), _reported(y=wrong), allowances)


@given(st.sampled_from(FLOATS), st.integers(1, 50), st.data())
def test_an_element_that_is_too_far_away_or_of_another_class_is_another_answer(
    dtype: np.dtype[np.floating], size: int, data: st.DataObject
) -> None:
    answer = np.linspace(1.0, 2.0, size).astype(dtype)
    special = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 2.5, -1.0, 0.0]))
    at = data.draw(st.integers(0, size - 1))
    other = answer.copy()
    other[at] = special
    assert not are_alike(_reported(y=answer), _reported(y=other), {"y": Allowance(0.2)})
    assert not are_alike(_reported(y=other), _reported(y=answer), {"y": Allowance(0.2)})
    assert are_alike(_reported(y=other), _reported(y=other.copy()), {"y": Allowance(0.2)})
    assert are_alike(
        _reported(y=answer), _reported(y=(answer + np.dtype(dtype).type(0.25)).astype(dtype)), {"y": Allowance(0.2)}
    )


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e6)), min_size=1))
def test_an_allowance_lies_above_what_is_granted_to_any_element(elements: list[tuple[float, float]]) -> None:
    expected, granted = np.array(elements).T
    allowance = allowance_of(expected, granted)
    assert (allowance.least + allowance.share * np.abs(expected) >= granted * (1 - 1e-12)).all()
    # Two answers with the largest allowed error, seen from the smaller.
    smaller = np.abs(np.abs(expected) - granted)
    assert (allowance.apart(smaller) >= 2 * granted * (1 - 1e-12)).all()


def test_integers_and_digests_have_to_be_the_same() -> None:
    whole = np.arange(9)
    assert are_alike(_reported(y=whole), _reported(y=whole.copy()), {"y": Allowance()})
    assert not are_alike(_reported(y=whole), _reported(y=whole + 1), {"y": Allowance()})
    assert are_alike(Commitment(1, 1, (2, 3)), Commitment(1, 1, (2, 3)), {})
    assert not are_alike(Commitment(1, 1, (2, 3)), Commitment(1, 1, (2, 4)), {})


@given(st.integers(1, 5000), st.sampled_from([*FLOATS, np.dtype(np.int32), np.dtype(np.uint8)]))
def test_an_excerpt_reads_what_was_put_to_its_places(size: int, dtype: np.dtype[np.generic]) -> None:
    random = np.random.default_rng(size)
    places = {name: random.integers(0, size, 100, np.uint64) for name in "yz"}
    excerpt = Excerpt(0, places, dict.fromkeys("yz", dtype))
    outputs = {name: random.integers(0, 100, size).astype(dtype) for name in "yz"}
    reported = excerpt.of(outputs)
    # As a runner stores them: an element in the low bytes of its place.
    slots = b"".join(values.view(f"u{dtype.itemsize}").astype(np.uint64).tobytes() for values in reported.values())
    for name, values in excerpt.reported(bytearray(slots)).items():
        assert values.tobytes() == reported[name].tobytes()
    other = {name: np.zeros(size, dtype) for name in "yz"}
    excerpt.put(reported, other)
    assert all(np.array_equal(excerpt.of(other)[name], reported[name]) for name in "yz")


def test_half_of_an_excerpt_lies_in_the_part_that_is_compared_and_half_anywhere() -> None:
    problem = find_problem("matrix-vector")
    judge = CaseJudge(problem, problem.sizes.gpu[0], RunSeed("places"), 0)
    loaded = judge.undrawn(1)
    assert loaded is not None
    half, elements = EXCERPT_ELEMENTS // 2, problem.sizes.gpu[0].values["m"]
    in_parts, elsewheres = list[set[int]](), set[bytes]()
    for call in range(1, 5):
        part, places = judge.part(loaded, call), judge.excerpt(loaded, call).places["output_c"]
        assert part is not None
        rows = set(part.places["output_c"].tolist())
        in_parts.append(set(places[:half].tolist()))
        assert in_parts[-1] <= rows
        assert len(in_parts[-1]) > 0.99 * len(rows)
        elsewhere = places[half:]
        assert np.histogram(elsewhere, 8, (0, elements))[0].min() > half / 16
        elsewheres.add(elsewhere.tobytes())
    assert len({frozenset(one) for one in in_parts}) == len(elsewheres) == 4, "no two calls have the same places"
