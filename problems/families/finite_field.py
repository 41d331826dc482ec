"""What the problems over finite fields share: the primes, and elements of the field as integers below them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from problems.kit.distributions import Unmade, as_drawn, recipe_of, spike_places, whole_numbers

MERSENNE_31 = 2**31 - 1
MERSENNE_61 = 2**61 - 1
"""Both are prime."""


def residues(prime: int, shape: tuple[int, ...], rng: np.random.Generator, dtype: DTypeLike) -> NDArray[Any]:
    """Elements of the field, with 0, 1 and -1 at random places, the last tile among them, where the host draws them."""
    drawn = whole_numbers(0, prime, shape, rng, dtype)
    if isinstance(drawn, Unmade):
        return drawn
    elements = np.array(drawn).reshape(-1)
    places = spike_places(elements.size, rng)
    elements[places] = rng.choice(np.array([0, 1, prime - 1], dtype), places.size)
    return as_drawn(elements.reshape(shape), recipe_of(drawn))
