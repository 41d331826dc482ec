"""Pooling as people write it: a loop over each window, in fp32, from the outputs' side."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from tests.problems.honest import Inputs, wrong_cases

F = np.float32


def windows(v: Inputs, outside: float) -> NDArray[Any]:
    """All windows as a view, without copies, with one more dimension for each dimension of the tensor."""
    tensor, dilation = v["input"], v.get("dilation", 1)
    reach = dilation * (v["kernel_size"] - 1) + 1
    padded = np.pad(tensor, v["padding"], constant_values=outside)
    view = np.lib.stride_tricks.sliding_window_view(padded, (reach,) * tensor.ndim)
    steps = (slice(None, None, v["stride"]),) * tensor.ndim + (slice(None, None, dilation),) * tensor.ndim
    return view[steps]


def running_mean(v: Inputs, terms: list[tuple[int, ...]] | None = None) -> NDArray[Any]:
    view = windows(v, 0.0)
    dimensions = v["input"].ndim
    total = np.zeros(view.shape[:dimensions], F)
    places = terms or list(product(range(v["kernel_size"]), repeat=dimensions))
    for place in places:
        total += view[(..., *place)]
    return total * (F(1) / F(v["kernel_size"] ** dimensions))


def without_padding(v: Inputs) -> NDArray[Any]:
    """Divides each sum by the number of places inside the tensor: that is another problem."""
    inside = running_mean({**v, "input": np.ones_like(v["input"])})
    return running_mean(v) / inside


def largest(v: Inputs) -> NDArray[Any]:
    dimensions = v["input"].ndim
    return windows(v, -np.inf).max(axis=tuple(range(dimensions, 2 * dimensions)))


@pytest.mark.parametrize("slug", ["avg-pool-1d", "avg-pool-2d", "avg-pool-3d"])
def test_running_sums_are_right_averages(catalogue: Catalogue, slug: str) -> None:
    assert wrong_cases(catalogue, slug, running_mean) == []


@pytest.mark.parametrize("slug", ["avg-pool-1d", "avg-pool-2d", "avg-pool-3d"])
def test_averages_count_the_padding(catalogue: Catalogue, slug: str) -> None:
    assert len(wrong_cases(catalogue, slug, without_padding)) > 1


@pytest.mark.parametrize("slug", ["avg-pool-1d", "avg-pool-2d", "avg-pool-3d"])
def test_averages_of_half_precision_are_wrong(catalogue: Catalogue, slug: str) -> None:
    assert wrong_cases(catalogue, slug, lambda v: running_mean({**v, "input": v["input"].astype(np.float16).astype(F)}))


@pytest.mark.parametrize("slug", ["max-pool-1d", "max-pool-2d", "max-pool-3d"])
def test_the_largest_of_a_window_is_right(catalogue: Catalogue, slug: str) -> None:
    assert wrong_cases(catalogue, slug, largest) == []


@pytest.mark.parametrize("slug", ["max-pool-1d", "max-pool-2d", "max-pool-3d"])
def test_padding_is_not_zero_to_a_maximum(catalogue: Catalogue, slug: str) -> None:
    lazy = wrong_cases(catalogue, slug, lambda v: np.maximum(largest(v), F(0)))
    assert lazy
