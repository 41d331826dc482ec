"""Convolutions, pooling and image kernels as people write them: tap by tap, from the outputs' side, sums that slide."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.problems.honest import F, Inputs, are_right, fail, running_sum, to_half


def convolved(signal: NDArray[Any], taps: NDArray[Any]) -> NDArray[Any]:
    """One running fp32 sum for each place, the last tap first."""
    padded = np.pad(signal, [(side // 2, side // 2) for side in taps.shape])
    windows = np.lib.stride_tricks.sliding_window_view(padded, signal.shape)
    total = np.zeros_like(signal)
    for place in reversed(list(np.ndindex(taps.shape))):
        total += windows[place] * taps[place]
    return total


def conv_1d(v: Inputs) -> NDArray[Any]:
    # numpy would swap the two if the filter were longer than the signal.
    padded = np.pad(v["A"], v["K"] // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, v["K"])
    return np.concatenate([running_sum(part * v["B"])[:, 0] for part in np.array_split(windows, 16)])


def activated(v: Inputs) -> NDArray[Any]:
    rectified = without_swish(v)
    return rectified * (np.clip(rectified + F(3), F(0), F(6)) * F(1 / 6))


def without_swish(v: Inputs) -> NDArray[Any]:
    return np.maximum(convolved(v["image"], v["kernel"]), F(0))


def pooled(v: Inputs, outside: float) -> NDArray[Any]:
    """All windows as a view, without copies, with one more dimension for each dimension of the tensor."""
    tensor, dilation = v["input"], v.get("dilation", 1)
    reach = dilation * (v["kernel_size"] - 1) + 1
    padded = np.pad(tensor, v["padding"], constant_values=outside)
    view = np.lib.stride_tricks.sliding_window_view(padded, (reach,) * tensor.ndim)
    steps = (slice(None, None, v["stride"]),) * tensor.ndim + (slice(None, None, dilation),) * tensor.ndim
    return view[steps]


def running_mean(v: Inputs) -> NDArray[Any]:
    view = pooled(v, 0.0)
    dimensions = v["input"].ndim
    total = np.zeros(view.shape[:dimensions], F)
    for place in product(range(v["kernel_size"]), repeat=dimensions):
        total += view[(..., *place)]
    return total * (F(1) / F(v["kernel_size"] ** dimensions))


def mean_without_padding(v: Inputs) -> NDArray[Any]:
    """Divides each sum by the number of places inside the tensor: that is another problem."""
    inside = running_mean({**v, "input": np.ones_like(v["input"])})
    return running_mean(v) / inside


def mean_of_half_precision(v: Inputs) -> NDArray[Any]:
    return running_mean({**v, "input": to_half(v["input"])})


def largest(v: Inputs) -> NDArray[Any]:
    dimensions = v["input"].ndim
    return pooled(v, -np.inf).max(axis=tuple(range(dimensions, 2 * dimensions)))


def largest_beside_zeros(v: Inputs) -> NDArray[Any]:
    return np.maximum(largest(v), F(0))


def histogram(v: Inputs) -> NDArray[Any]:
    counts = np.zeros(v["num_bins"], F)
    np.add.at(counts, v["image"].astype(np.int32).reshape(-1), F(1))
    return counts


def sliding_sums(values: NDArray[Any], reach: int) -> NDArray[Any]:
    """Sums along the first axis, each from the one before: adds the entering element, subtracts the leaving one."""
    padded = np.pad(values, ((reach + 1, reach), (0, 0)))
    side = 2 * reach + 1
    total = padded[:side].sum(axis=0, dtype=F)
    sums = np.empty_like(values)
    for at in range(len(values)):
        total = (total + padded[at + side]) - padded[at]
        sums[at] = total
    return sums


def box_sums(image: NDArray[Any], reach: int) -> NDArray[Any]:
    return sliding_sums(sliding_sums(image, reach).T.copy(), reach).T


def blur(v: Inputs) -> NDArray[Any]:
    image, reach = v["input_image"], v["kernel_size"] // 2
    return box_sums(image, reach) / box_sums(np.ones_like(image), reach)


def blur_of_zeros_around(v: Inputs) -> NDArray[Any]:
    return box_sums(v["input_image"], v["kernel_size"] // 2) / F(v["kernel_size"] ** 2)


def edges(image: NDArray[Any], fringe: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    padded = np.pad(image, 1)
    across = padded[1:-1, 2:] * F(0.5) + padded[1:-1, :-2] * F(-0.5)
    down = padded[2:, 1:-1] * F(0.5) + padded[:-2, 1:-1] * F(-0.5)
    size = fringe(np.sqrt(across * across + down * down))
    return size * (F(255) / size.max())


def without_fringe(size: NDArray[Any]) -> NDArray[Any]:
    inner = np.zeros_like(size)
    inner[1:-1, 1:-1] = size[1:-1, 1:-1]
    return inner


def gray(image: NDArray[Any]) -> NDArray[Any]:
    red, green, blue = (image[..., channel] for channel in range(3))
    return F(0.114) * blue + (F(0.587) * green + F(0.299) * red)


test_honest_images = are_right(
    ("conv-1d", conv_1d),
    ("conv-2d", lambda v: convolved(v["A"], v["B"])),
    ("conv-square-3d", lambda v: convolved(v["A"], v["B"])),
    ("conv2d-relu-hardswish", activated),
    *((f"avg-pool-{n}d", running_mean) for n in (1, 2, 3)),
    *((f"max-pool-{n}d", largest) for n in (1, 2, 3)),
    ("histogram", histogram),
    ("box-blur", blur),
    ("edge-detect", lambda v: edges(v["input_image"], without_fringe)),
    ("grayscale", lambda v: gray(v["rgb_image"])),
)
test_other_images = fail(
    ("conv-square-3d", 1, lambda v: convolved(v["A"], v["B"][::-1, ::-1, ::-1])),
    ("conv2d-relu-hardswish", 2, without_swish),
    *((f"avg-pool-{n}d", 2, mean_without_padding) for n in (1, 2, 3)),
    *((f"avg-pool-{n}d", 1, mean_of_half_precision) for n in (1, 2, 3)),
    *((f"max-pool-{n}d", 1, largest_beside_zeros) for n in (1, 2, 3)),
    ("box-blur", 10, blur_of_zeros_around),
    ("box-blur", 1, lambda v: to_half(blur(v))),
    ("edge-detect", 10, lambda v: edges(v["input_image"], lambda size: size)),
    ("edge-detect", 1, lambda v: edges(to_half(v["input_image"]), without_fringe)),
    ("grayscale", 9, lambda v: gray(v["rgb_image"][..., ::-1])),
)
