"""Sliding a filter over a signal of any number of dimensions, in fp64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Case, Part
from problems.kit.parts import Slide, some_windows

MOST_DIRECT_PRODUCTS = 1 << 26
"""A tenth of a second's work; beyond it the Fourier transform is far quicker, and for so many taps exact enough."""


def correlate(
    signal: NDArray[Any],
    taps: NDArray[Any],
    inside: NDArray[np.bool_] | None = None,
    most_direct_products: int = MOST_DIRECT_PRODUCTS,
) -> NDArray[np.float64]:
    """The sum of `signal[at + j - taps.shape // 2] * taps[j]` over all j, for every `at`; 0 outside the signal.

    Each side of `taps` is odd; the result has the signal's shape. If `inside` is given, each row of the signal is the
    window of one `at`, and `inside` says which of its elements count.
    """
    wide_signal, wide_taps = signal.astype(np.float64), taps.astype(np.float64)
    if inside is not None:
        return np.where(inside, wide_signal, 0.0).reshape(len(signal), -1) @ wide_taps.reshape(-1)
    if signal.size * taps.size > most_direct_products:
        return _by_fourier(wide_signal, wide_taps)
    padded = np.pad(wide_signal, [(side // 2, side // 2) for side in taps.shape])
    total = np.zeros(signal.shape)
    for offset in np.ndindex(taps.shape):
        window = tuple(slice(start, start + side) for start, side in zip(offset, signal.shape, strict=True))
        total += padded[window] * wide_taps[offset]
    return total


def window_part(
    case: Case, names: tuple[str, str], counts: tuple[int, ...], slide: Slide, rng: np.random.Generator
) -> Part | None:
    """A part of some of the `counts` windows, by the names of the tensor and of the output; None if they are too few.

    The part's tensor has a window in each row, and `inside` in its case's values says which elements count.
    """
    windows = some_windows(counts, slide, rng)
    if windows is None:
        return None
    tensor, output = names
    part = replace(case, values={**case.values, "inside": windows.inside})
    return Part(part, {tensor: windows.places, output: windows.outputs})


def correlation_part(
    case: Case, names: tuple[str, str], shape: tuple[int, ...], taps: tuple[int, ...], rng: np.random.Generator
) -> Part | None:
    """A part of a correlation, by the names of the signal and of the output, both of this shape."""
    return window_part(case, names, shape, Slide(shape, taps, tuple(side // 2 for side in taps)), rng)


def _by_fourier(signal: NDArray[np.float64], taps: NDArray[np.float64]) -> NDArray[np.float64]:
    # scipy.signal takes half a second to import: only where it is needed.
    from scipy.signal import oaconvolve  # noqa: PLC0415 - see above

    full = oaconvolve(signal, np.flip(taps), mode="full")
    return full[tuple(slice(k // 2, k // 2 + n) for k, n in zip(taps.shape, signal.shape, strict=True))]
