"""Image kernels as people write them: sums that slide, gradients by convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from tests.problems.honest import Inputs, wrong_cases

F = np.float32


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


def edges(v: Inputs, fringe: Callable[[NDArray[Any]], NDArray[Any]] = lambda size: size) -> NDArray[Any]:
    image = v["input_image"]
    padded = np.pad(image, 1)
    across = padded[1:-1, 2:] * F(0.5) + padded[1:-1, :-2] * F(-0.5)
    down = padded[2:, 1:-1] * F(0.5) + padded[:-2, 1:-1] * F(-0.5)
    size = fringe(np.sqrt(across * across + down * down))
    return size * (F(255) / size.max())


def without_fringe(size: NDArray[Any]) -> NDArray[Any]:
    inner = np.zeros_like(size)
    inner[1:-1, 1:-1] = size[1:-1, 1:-1]
    return inner


def gray(v: Inputs) -> NDArray[Any]:
    red, green, blue = (v["rgb_image"][..., channel] for channel in range(3))
    return F(0.114) * blue + (F(0.587) * green + F(0.299) * red)


def test_sums_that_slide_blur_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "box-blur", blur) == []


def test_a_blur_does_not_count_what_lies_outside_the_image(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "box-blur", blur_of_zeros_around)) == 10


def test_a_blur_in_half_precision_is_wrong(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "box-blur", lambda v: blur(v).astype(np.float16).astype(F))


def test_edges_by_convolution_are_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "edge-detect", lambda v: edges(v, without_fringe)) == []


def test_the_fringe_of_an_image_has_no_edges(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "edge-detect", edges)) == 10


def test_edges_of_half_precision_are_wrong(catalogue: Catalogue) -> None:
    def lazy(v: Inputs) -> NDArray[Any]:
        return edges({"input_image": v["input_image"].astype(np.float16).astype(F)}, without_fringe)

    assert wrong_cases(catalogue, "edge-detect", lazy)


def test_gray_in_any_order_of_channels_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "grayscale", gray) == []


def test_red_and_blue_are_not_alike(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "grayscale", lambda v: gray({"rgb_image": v["rgb_image"][..., ::-1]}))) == 9
