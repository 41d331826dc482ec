"""A part of a case is judged as the whole would be."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

from problems.kit import parts
from problems.kit.parts import Stretch, some_elements, some_pieces, some_tile
from problems.library.variants import variant_of
from services.executor.core.run.installation import catalogue
from tests.tiers import rotating

PROBLEMS = {slug: catalogue().get(slug).problem for slug in sorted(catalogue().problems)}
WHOLE = {
    # A single number, or a sum over all elements that every element needs.
    *("frobenius-norm", "matmul-sigmoid-sum", "mse-loss", "triplet-margin", "histogram"),
    # Each element needs those before it, or after it, or all others.
    *("array-sort", "cumprod", "cumsum", "running-sum-1d", "poly-multiply-ff", "matrix-power"),
    *("min-spanning-tree", "shortest-path"),
    # No case is large.
    "conv-1d",
    # Over the largest gradient of all.
    "edge-detect",
    # The device cannot draw their inputs: the host has them whole, and drawing is what takes long.
    *("box-blur", "ecc-point-negation", "grayscale", "threshold"),
}

# Some dozens of pieces, any of which may be worth leaving out.
FEW = {"batch-norm", "layer-norm"}
MOST_WHOLE_BYTES = 32 << 20


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `cpu` sizes be judged in parts; otherwise they are judged whole."""
    monkeypatch.setattr(parts, "ELEMENTS", 64)
    monkeypatch.setattr(parts, "FEWEST_PIECES", 2)
    monkeypatch.setattr(parts, "FEWEST_LINES", 3)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("slug", rotating(sorted(PROBLEMS.keys() - WHOLE)))
@pytest.mark.parametrize("is_narrow", [False, True])
def test_reference_and_condition_of_a_part_are_the_part_of_those_of_the_whole(slug: str, *, is_narrow: bool) -> None:
    problem, rng, judged = PROBLEMS[slug], np.random.default_rng(7), 0
    problem = variant_of(problem, problem.dtypes[-1 if is_narrow else 0])
    lots = (rng, Stretch(0, 3), Stretch(1, 2))
    for case, lot in product(problem.sizes.cpu, lots):
        part = problem.part(case, lot)
        if part is None or not all(places.size for places in part.places.values()):
            continue
        inputs = problem.inputs(case, rng)
        expected = problem.reference(case, inputs)
        condition = problem.condition(case, inputs, expected)
        of_part = problem.reference(part.case, part.of(inputs))
        for name, value in part.of(expected).items():
            np.testing.assert_allclose(of_part[name], value, rtol=1e-9, atol=1e-9 * float(np.abs(value).max()))
        for name, value in problem.condition(part.case, part.of(inputs), of_part).items():
            whole = np.broadcast_to(condition[name], expected[name].shape)
            actual = np.broadcast_to(value, of_part[name].shape)
            np.testing.assert_allclose(actual, part.of({name: whole})[name], rtol=1e-6)
        judged += 1
    assert judged


IN_STRETCHES = {
    "batch-norm",
    "cosine-similarity",
    "kl-loss",
    "mxfp4-quantize",
    "product-dim",
    "softmax",
    "vector-addition",
}


@pytest.mark.parametrize("slug", rotating(sorted(PROBLEMS)))
@pytest.mark.parametrize("count", [1, 7, 1000])
def test_stretches_are_the_whole_and_no_element_is_in_two(slug: str, count: int) -> None:
    """Alternatively, the problem says that it has no stretches."""
    problem = PROBLEMS[slug]
    for case in problem.sizes.cpu:
        found = [problem.part(case, Stretch(number, count)) for number in range(count)]
        stretches = [part for part in found if part is not None]
        assert len(stretches) in {0, count}
        assert stretches or slug not in IN_STRETCHES
        for name, shape in problem.output_shapes(case).items() if stretches else ():
            seen = np.concatenate([part.places[name].reshape(-1) for part in stretches])
            assert len(np.unique(seen)) == len(seen) == prod(shape)


@pytest.mark.parametrize("slug", rotating(sorted(PROBLEMS)))
def test_a_part_of_a_large_case_is_small_and_has_every_output(slug: str) -> None:
    problem, rng = PROBLEMS[slug], np.random.default_rng(7)
    largest = max(problem.sizes.gpu, key=problem.bytes)
    part = problem.part(largest, rng)
    if part is None:
        assert slug in WHOLE | FEW or problem.bytes(largest) <= MOST_WHOLE_BYTES
        return
    for name, shape in problem.output_shapes(largest).items():
        assert 0 <= part.places[name].min() <= part.places[name].max() < prod(shape)
    elements = sum(places.size for places in part.places.values())
    assert 4 * elements < problem.bytes(largest)


def test_a_few_elements_are_judged_whole() -> None:
    rng = np.random.default_rng(1)
    assert some_elements(2 * parts.ELEMENTS, rng) is None
    assert some_pieces(2 * parts.FEWEST_PIECES, 1 << 24, rng) is not None
    assert some_pieces(2 * parts.FEWEST_PIECES - 1, 1 << 24, rng) is None
    assert some_tile(64, 1 << 10, 64, rng) is None


@pytest.mark.parametrize("count", [96, 100, 5000])
def test_pieces_are_chosen_by_lot_and_each_as_often_as_the_others(count: int) -> None:
    rng, times = np.random.default_rng(3), np.zeros(count)
    for _ in range(2000):
        pieces = some_pieces(count, 1 << 22, rng)
        assert pieces is not None
        assert len(set(pieces)) == len(pieces) == parts.FEWEST_PIECES
        times[pieces] += 1
    expected = times.mean()
    assert abs(times - expected).max() < 6 * expected**0.5 + 3
