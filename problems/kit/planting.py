"""What the judge does to inputs that a problem has drawn: large values at places of its own, and scales of its own.

A problem draws spikes itself. Those that are planted here do not hang on its author's care: in every call a few large
but legal values lie at random places of every input whose domain the problem states, one of them in the last tile. In
hidden cases and chains the inputs that may take any scale are brought to one between 1e-3 and 1e3; in public cases they
keep the scale that the case is named by, so that who computes too narrowly is told so, and not of an overflow. Inputs
without a stated domain stay as they were drawn, as only their problem knows how their elements hang together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Problem
from problems.kit.distributions import SPANS, WHOLE_SPAN, Recipe, Unmade, as_drawn, recipe_of, scaled, spike_places
from problems.kit.domain import Domain

_LEAST_OF_LARGEST = 0.5
"""What a planted value is of the largest that was drawn, at least."""
_NEAR_THE_END = 0.1
"""Of a domain with two ends: the share of it that planted values come from."""


def planted(
    problem: Problem, inputs: Mapping[str, Any], rng: np.random.Generator, *, scales: bool = True
) -> Mapping[str, Any]:
    """The inputs as the judge gives them; with `scales` it chooses their scales. The rest are the same objects.

    Where the problem states no domain they are the very mapping that it drew, which may tell it more than its values.
    Arrays that are not drawn yet get scales alone.
    """
    if not problem.domains:
        return inputs
    changed = dict(inputs)
    takes_scales = scales and SPANS.get(problem.dtype, WHOLE_SPAN) is WHOLE_SPAN
    for name, domain in problem.domains.items():
        is_unmade = isinstance(inputs[name], Unmade)
        array: NDArray[Any] = inputs[name] if is_unmade else np.asanyarray(inputs[name])
        if domain.scales and takes_scales:
            array = _scaled(array, rng)
        changed[name] = _spiked(array, domain, rng) if domain.spikes and not is_unmade else array
    return changed


def is_spiked_as_drawn(domain: Domain) -> bool:
    """Whether drawn values have spikes like those that are planted already; not if those are near an end."""
    return not domain.spikes or not (math.isfinite(domain.low) or math.isfinite(domain.high))


def _scaled(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """At a random scale, by its root mean square; a power of two keeps every mantissa."""
    recipe = array.recipe if isinstance(array, Unmade) else None
    if isinstance(recipe, Recipe):
        size = recipe.root_mean_square
    else:
        size = math.sqrt(float(np.mean(np.square(array, dtype=np.float64))))
    if not 0.0 < size < math.inf:
        return array
    wanted = math.exp(rng.uniform(math.log(WHOLE_SPAN.small), math.log(WHOLE_SPAN.large)))
    return scaled(array, 2.0 ** round(math.log2(wanted / size)))


def _spiked(array: NDArray[Any], domain: Domain, rng: np.random.Generator) -> NDArray[Any]:
    flat = np.array(array).reshape(-1)
    places = spike_places(flat.size, rng)
    values = _large(flat, domain, places.size, rng)
    used = flat[places] != 0
    flat[places[used]] = values[used].astype(flat.dtype)
    return as_drawn(flat.reshape(array.shape), recipe_of(array) if is_spiked_as_drawn(domain) else None)


def _large(flat: NDArray[Any], domain: Domain, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The largest legal values: near the upper end, or like the largest drawn."""
    if math.isfinite(domain.high):
        reach = domain.high - domain.low if math.isfinite(domain.low) else abs(domain.high)
        return domain.high - _NEAR_THE_END * reach * rng.random(count)
    largest, smallest = float(flat.max()), float(flat.min())
    sizes = rng.uniform(_LEAST_OF_LARGEST, 1.0, count) * max(largest, -smallest)
    if smallest >= 0.0 or largest <= 0.0:
        return sizes if smallest >= 0.0 else -sizes
    return sizes * rng.choice((-1.0, 1.0), count)
