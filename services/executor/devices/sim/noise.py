"""Noise of measured times: what multiplies a kernel's own time, call after call.

A model is made once for a session (a fresh process) and then asked for one factor a call. The standard library's
generator gives the same numbers on every system, and this module needs nothing else, as it also runs in the build's
sandbox.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from random import Random

SKEWED_SIGMA = 0.01
"""Of the logarithm: a spread of about 1 %, as repeated launches of one kernel show."""
SPIKE_SHARE = 0.03
SPIKE_FACTOR = 1.35
"""About one call in thirty is hit by something that takes a third longer."""
CORRELATION = 0.95
"""From one call to the next: what a clock does that is regulated over tens of calls."""
CORRELATED_SIGMA = 0.004
STEP_FACTOR = 1.04
"""A clock that steps down makes calls 4 % longer."""
STEP_DOWN_CHANCE = 0.004
STEP_UP_CHANCE = 0.02
WARMING = 0.01
WARMING_CALLS = 60
"""A session begins 1 % slow and comes to its speed within some sixty calls."""
UPPER_MODE_SHARE = 0.3
UPPER_MODE_FACTOR = 1.06
MODE_SIGMA = 0.005
SLOW_START = 0.25
SLOW_START_CALLS = 3
"""The first calls of a process take a quarter longer: code and pages are not where they are wanted."""
RAMP_CALLS = 8
"""The clock comes to its speed within some twenty calls."""
GPU_CLOCK_SIGMA = 0.001
GPU_JITTER_SIGMA = 0.003
GPU_SPIKE_SHARE = 0.01


def quiet(draw: Random) -> Iterator[float]:
    """No noise but the clock's resolution."""
    while True:
        yield 1 + 1e-4 * draw.random()


def skewed(draw: Random) -> Iterator[float]:
    """White and skewed to the right: log-normal, with rare long calls."""
    while True:
        spike = SPIKE_FACTOR if draw.random() < SPIKE_SHARE else 1.0
        yield math.exp(abs(draw.gauss(0, SKEWED_SIGMA))) * spike


def correlated(draw: Random) -> Iterator[float]:
    """An AR(1) process below white skewed noise: neighbours are alike, so that samples say less than their number."""
    innovation = CORRELATED_SIGMA * math.sqrt(1 - CORRELATION**2)
    level = draw.gauss(0, CORRELATED_SIGMA)
    while True:
        level = CORRELATION * level + draw.gauss(0, innovation)
        yield math.exp(level + abs(draw.gauss(0, SKEWED_SIGMA / 4)))


def stepping(draw: Random) -> Iterator[float]:
    """Warms up, then steps between two clocks, each of which holds for many calls."""
    slow, call = False, 0
    while True:
        change = STEP_UP_CHANCE if slow else STEP_DOWN_CHANCE
        slow = slow != (draw.random() < change)
        warming = WARMING * math.exp(-call / WARMING_CALLS)
        call += 1
        yield (STEP_FACTOR if slow else 1.0) * (1 + warming) * math.exp(abs(draw.gauss(0, SKEWED_SIGMA / 2)))


def bimodal(draw: Random) -> Iterator[float]:
    """Two modes: which one a call is in depends on where its memory lies, and not on the call before."""
    while True:
        mode = UPPER_MODE_FACTOR if draw.random() < UPPER_MODE_SHARE else 1.0
        yield mode * math.exp(draw.gauss(0, MODE_SIGMA))


def gpu(draw: Random) -> Iterator[float]:
    """A GPU: slow first calls, a clock that ramps up, is regulated, and jitters; now and then a long call."""
    innovation = GPU_CLOCK_SIGMA * math.sqrt(1 - CORRELATION**2)
    level, call = draw.gauss(0, GPU_CLOCK_SIGMA), 0
    while True:
        level = CORRELATION * level + draw.gauss(0, innovation)
        start = 1 + SLOW_START * math.exp(-call / SLOW_START_CALLS) + WARMING * math.exp(-call / RAMP_CALLS)
        spike = SPIKE_FACTOR if draw.random() < GPU_SPIKE_SHARE else 1.0
        call += 1
        yield start * math.exp(level + draw.gauss(0, GPU_JITTER_SIGMA)) * spike


MODELS: Mapping[str, Callable[[Random], Iterator[float]]] = {
    "quiet": quiet,
    "skewed": skewed,
    "correlated": correlated,
    "stepping": stepping,
    "bimodal": bimodal,
    "gpu": gpu,
}
