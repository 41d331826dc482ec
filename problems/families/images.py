"""What the image problems share: pixels from 0 to 255, as floats."""

from __future__ import annotations

from enum import StrEnum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import SizeSet
from problems.kit.distributions import spike_places
from problems.kit.domain import Domain

BRIGHTEST = 255.0
PIXELS = Domain(0.0, BRIGHTEST)
_HIDDEN_SIDES = {SizeSet.CPU: (127, 211, 257, 331), SizeSet.GPU: (1021, 1081, 1919, 2049)}


class Light(StrEnum):
    """What an image looks like, before its brightest pixels."""

    EVEN = "even"
    """All pixels alike likely."""
    DARK = "dark"
    """Pixels up to 16, so that the brightest stand out."""
    SOFT = "soft"
    """A slope from dark to bright under some noise: most gradients are small."""


image_case = CaseTemplate("{height}x{width}, {light}")


def hidden_image(size_set: SizeSet, rng: np.random.Generator) -> tuple[int, int, Light]:
    """Height, width and light near the public ones: many sides are prime."""
    height, width = (int(side) for side in rng.choice(_HIDDEN_SIDES[size_set], 2))
    return height, width, tuple(Light)[rng.integers(len(Light))]


def draw_image(light: Light | str, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    """Pixels of one light, with a few of the brightest at random places, the last tile among them."""
    pixels = _plain(Light(light), shape, rng).reshape(-1)
    places = spike_places(prod(shape), rng)
    pixels[places] = BRIGHTEST * rng.uniform(0.9, 1.0, places.size)
    return pixels.reshape(shape)


def _plain(light: Light, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    noise = rng.random(shape, np.float32)
    if light is Light.EVEN:
        return noise * np.float32(BRIGHTEST)
    if light is Light.DARK:
        return noise * np.float32(16)
    slope: NDArray[Any] = np.linspace(0.0, BRIGHTEST - 32.0, prod(shape), dtype=np.float32)
    return slope.reshape(shape) + noise * np.float32(16)
