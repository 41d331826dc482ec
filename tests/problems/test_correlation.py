from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.families.correlation import correlate

SIDES = st.integers(1, 12)
ODD = st.integers(0, 6).map(lambda half: 2 * half + 1)


@settings(deadline=None)
@given(st.integers(1, 40), ODD, st.integers(0, 99))
def test_one_dimension_agrees_with_numpy(length: int, taps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    signal, window = rng.normal(size=length), rng.normal(size=taps)
    full = np.correlate(signal, window, "full") if taps <= length else np.convolve(window[::-1], signal)
    assert np.allclose(correlate(signal, window), full[taps // 2 :][:length])


@settings(deadline=None)
@given(SIDES, SIDES, ODD, ODD, st.integers(0, 99))
def test_a_separable_filter_is_two_passes(height: int, width: int, rows: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    image, down, across = rng.normal(size=(height, width)), rng.normal(size=rows), rng.normal(size=columns)
    once = np.stack([correlate(line, across) for line in image])
    twice = np.stack([correlate(line, down) for line in once.T]).T
    assert np.allclose(correlate(image, np.outer(down, across)), twice)


@pytest.mark.parametrize(("shape", "taps"), [((997,), (101,)), ((61, 67), (9, 13))])
def test_the_fourier_transform_gives_the_same(shape: tuple[int, ...], taps: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    signal, window = rng.normal(size=shape), rng.normal(size=taps)
    direct = correlate(signal, window)
    by_fourier = correlate(signal, window, most_direct_products=0)
    assert np.allclose(by_fourier, direct, rtol=0, atol=1e-12)
    assert not np.array_equal(by_fourier, direct)
