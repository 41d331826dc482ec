"""Noise of measured times: factors of a kernel's own time, call after call.

A model is made once for a session (a fresh process) and then asked for one factor per call. The standard library's
generator gives the same numbers on every system, and this module needs nothing else, as it also runs in the build's
sandbox.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from random import Random

SKEWED_SIGMA = 0.01
"""Sigma of the logarithm: a spread of about 1 %, as repeated launches of one kernel show."""
SPIKE_SHARE = 0.03
SPIKE_FACTOR = 1.35
"""About one call in thirty meets a disturbance and takes a third longer."""
CORRELATION = 0.95
"""Correlation from one call to the next, as of a clock that is regulated over tens of calls."""
CORRELATED_SIGMA = 0.004
STEP_FACTOR = 1.04
"""A clock that steps down makes calls 4 % longer."""
STEP_DOWN_CHANCE = 0.004
STEP_UP_CHANCE = 0.02
WARMING = 0.01
WARMING_CALLS = 60
"""A session begins 1 % slow and reaches its speed within some sixty calls."""
UPPER_MODE_SHARE = 0.3
UPPER_MODE_FACTOR = 1.06
MODE_SIGMA = 0.005
SLOW_START = 0.25
SLOW_START_CALLS = 3
"""The first calls of a process take a quarter longer, because code and pages are not yet in place."""
RAMP_CALLS = 8
"""The clock reaches its speed within some twenty calls."""
GPU_CLOCK_SIGMA = 0.001
GPU_JITTER_SIGMA = 0.003
GPU_SPIKE_SHARE = 0.01


def quiet(draw: Random) -> Iterator[float]:
    """Yield no noise but the clock's resolution."""
    while True:
        yield 1 + 1e-4 * draw.random()


def skewed(draw: Random) -> Iterator[float]:
    """Yield white noise that is skewed to the right: log-normal, with rare long calls."""
    while True:
        spike = SPIKE_FACTOR if draw.random() < SPIKE_SHARE else 1.0
        yield math.exp(abs(draw.gauss(0, SKEWED_SIGMA))) * spike


def correlated(draw: Random) -> Iterator[float]:
    """Yield an AR(1) process with white skewed noise: neighbours are alike, so samples tell less than their number."""
    innovation = CORRELATED_SIGMA * math.sqrt(1 - CORRELATION**2)
    level = draw.gauss(0, CORRELATED_SIGMA)
    while True:
        level = CORRELATION * level + draw.gauss(0, innovation)
        yield math.exp(level + abs(draw.gauss(0, SKEWED_SIGMA / 4)))


def stepping(draw: Random) -> Iterator[float]:
    """Warm up, then step between two clocks, each of which holds for many calls."""
    slow, call = False, 0
    while True:
        change = STEP_UP_CHANCE if slow else STEP_DOWN_CHANCE
        slow = slow != (draw.random() < change)
        warming = WARMING * math.exp(-call / WARMING_CALLS)
        call += 1
        yield (STEP_FACTOR if slow else 1.0) * (1 + warming) * math.exp(abs(draw.gauss(0, SKEWED_SIGMA / 2)))


def bimodal(draw: Random) -> Iterator[float]:
    """Yield two modes: the mode of a call depends on where its memory lies, and not on the call before."""
    while True:
        mode = UPPER_MODE_FACTOR if draw.random() < UPPER_MODE_SHARE else 1.0
        yield mode * math.exp(draw.gauss(0, MODE_SIGMA))


def gpu(draw: Random) -> Iterator[float]:
    """Yield a GPU's noise: slow first calls, a clock that ramps up, is regulated and jitters, and a few long calls."""
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
