"""Convolutions as people write them: one tap after another in fp32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from tests.problems.honest import Inputs, wrong_cases

F = np.float32


def convolved(signal: NDArray[Any], taps: NDArray[Any]) -> NDArray[Any]:
    """One running fp32 sum for each place, the last tap first."""
    padded = np.pad(signal, [(side // 2, side // 2) for side in taps.shape])
    windows = np.lib.stride_tricks.sliding_window_view(padded, signal.shape)
    total = np.zeros_like(signal)
    for place in reversed(list(np.ndindex(taps.shape))):
        total += windows[place] * taps[place]
    return total


def activated(v: Inputs) -> NDArray[Any]:
    total = convolved(v["image"], v["kernel"])
    rectified = np.maximum(total, F(0))
    return rectified * (np.clip(rectified + F(3), F(0), F(6)) * F(1 / 6))


def without_swish(v: Inputs) -> NDArray[Any]:
    return np.maximum(convolved(v["image"], v["kernel"]), F(0))


def test_a_cube_convolved_tap_by_tap_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "conv-square-3d", lambda v: convolved(v["A"], v["B"])) == []


def test_a_cube_convolved_with_flipped_taps_is_wrong(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "conv-square-3d", lambda v: convolved(v["A"], v["B"][::-1, ::-1, ::-1]))


def test_activations_in_fp32_are_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "conv2d-relu-hardswish", activated) == []


def test_leaving_an_activation_out_is_wrong(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "conv2d-relu-hardswish", without_swish)) > 1
