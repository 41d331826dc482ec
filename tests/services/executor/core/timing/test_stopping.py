from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.timing.autocorrelation import correlation_time
from services.executor.core.timing.session_rule import score
from services.executor.core.timing.statistics import interval_of_sessions, relative_half_width
from services.executor.core.timing.stopping import (
    CPU_PROFILE,
    GPU_PROFILE,
    StoppingProfile,
    StoppingRule,
    StopReason,
    least_half_width,
)
from services.executor.devices.sim.noise import MODELS

QUICK = replace(GPU_PROFILE, max_samples=160)


def _stop(profile: StoppingProfile, samples: list[float], wall_step: float = 0.0) -> tuple[int, StopReason | None]:
    rule = StoppingRule(profile)
    for count, sample in enumerate(samples, start=1):
        if reason := rule.add(sample, count * wall_step):
            return count, reason
    return len(samples), None


@given(st.lists(st.floats(1e-6, 1e-3), min_size=QUICK.max_samples, max_size=QUICK.max_samples))
def test_it_always_stops_by_the_sample_cap_and_precision_means_precision(samples: list[float]) -> None:
    count, reason = _stop(QUICK, samples)
    assert reason is not None
    assert count <= QUICK.max_samples
    if reason is StopReason.PRECISION:
        assert count >= QUICK.min_samples
        assert (count - QUICK.min_samples) % QUICK.check_every == 0
        taken = samples[:count]
        assert relative_half_width(sorted(taken), correlation_time(taken)) <= QUICK.relative_half_width


def test_a_steady_kernel_needs_only_the_fewest_samples_that_convergence_asks_for() -> None:
    assert _stop(GPU_PROFILE, [1e-5] * 3000) == (100, StopReason.PRECISION)


def test_a_slow_kernel_is_looked_at_after_some_seconds_and_ends_only_if_it_is_precise() -> None:
    assert _stop(GPU_PROFILE, [0.026] * 100) == (40, StopReason.PRECISION)
    assert _stop(GPU_PROFILE, [0.051] * 100) == (20, StopReason.PRECISION)
    assert _stop(GPU_PROFILE, [1.0] * 100) == (10, StopReason.DEVICE_TIME)
    draw = random.Random(3)  # noqa: S311 - a simulation
    assert _stop(GPU_PROFILE, [0.2 * (1 + draw.gauss(0, 0.03)) for _ in range(100)])[1] is StopReason.DEVICE_TIME


def test_a_lucky_start_does_not_stop_it_early() -> None:
    assert _stop(GPU_PROFILE, [1e-5] * 99)[1] is None


def test_noise_takes_more_samples_and_a_wild_one_reaches_the_cap() -> None:
    draw = random.Random(3)  # noqa: S311 - a simulation
    calm = _stop(GPU_PROFILE, [1e-5 * (1 + draw.gauss(0, 0.01)) for _ in range(3000)])
    wild = _stop(GPU_PROFILE, [1e-5 * (1 + draw.random()) for _ in range(3000)])
    assert calm[1] is StopReason.PRECISION
    assert 100 <= calm[0] < 400
    assert wild == (2000, StopReason.SAMPLES)


def test_device_and_wall_time_are_capped_after_the_fewest_samples() -> None:
    profile = replace(GPU_PROFILE, fewest_samples=3)
    assert _stop(profile, [20.0, 21.0, 22.0, 23.0]) == (3, StopReason.DEVICE_TIME)
    assert _stop(profile, [0.001, 0.002, 0.003, 0.004], wall_step=61) == (3, StopReason.WALL_TIME)


def test_no_cap_stops_before_the_fewest_samples() -> None:
    assert _stop(CPU_PROFILE, [100.0] * (CPU_PROFILE.fewest_samples - 1), wall_step=100)[1] is None


def test_a_wandering_clock_does_not_look_precise() -> None:
    """Order statistics for independent samples get this case wrong: with them, all stop at the first look."""
    counts: list[int] = []
    for seed in range(30):
        noise = MODELS["correlated"](random.Random(seed))  # noqa: S311 - a simulation
        samples = [1e-5 * factor for factor in islice(noise, 2000)]
        assert relative_half_width(sorted(samples[:100])) <= GPU_PROFILE.relative_half_width
        counts.append(_stop(GPU_PROFILE, samples)[0])
    assert sum(counts) / len(counts) > 180


def test_warm_up_wants_calls_and_time_but_gives_up_at_its_cap() -> None:
    assert not GPU_PROFILE.is_warm([], 0.0)
    assert not GPU_PROFILE.is_warm([0.01] * 10, 0.1)
    assert not GPU_PROFILE.is_warm([0.06] * 9, 0.6)
    assert GPU_PROFILE.is_warm([0.021] * 10, 0.3)
    assert GPU_PROFILE.is_warm([0.01], 2.0)
    assert not GPU_PROFILE.is_warm([1e-6 * (call % 7) for call in range(199)], 0.1)
    assert GPU_PROFILE.is_warm([1e-6 * (call % 7) for call in range(200)], 0.1)
    assert not GPU_PROFILE.is_warm([], 5.0)


@given(st.floats(1e-5, 1e-1), st.integers(10, 40))
def test_it_is_not_warm_while_calls_get_shorter(seconds: float, calls: int) -> None:
    profile = replace(GPU_PROFILE, warm_up_seconds=0.0)
    getting_shorter = [seconds * (2 - 0.001 * call) for call in range(calls)]
    nearly_steady = [seconds * (2 - 0.0001 * call) for call in range(calls)]
    assert not profile.is_warm([seconds * (2 - 0.01 * call) for call in range(calls)], 0.9)
    assert profile.is_warm(nearly_steady, 0.9)
    assert profile.is_warm([*getting_shorter, *[seconds] * 10], 0.9)
    assert replace(profile, warm_up_slope=None).is_warm(getting_shorter, 0.9)


@given(st.lists(st.floats(1e-3, 1.0), max_size=30))
def test_a_slow_warm_up_has_no_say_in_the_number_of_samples(warm_up: list[float]) -> None:
    GPU_PROFILE.is_warm(warm_up, sum(warm_up))
    assert _stop(GPU_PROFILE, [1e-5] * 3000) == (100, StopReason.PRECISION)


def _white(seed: str, sigma: float, between_sessions: float = 0.0) -> Iterator[float]:
    """Noise with a median of 1, in a session whose own level varies by `between_sessions`."""
    draw = random.Random(seed)  # noqa: S311 - a simulation
    level = draw.gauss(0, between_sessions)
    while True:
        yield math.exp(level + draw.gauss(0, sigma))


# A quarter of a second has room for this many calls of 5.5 ms with their checks.
CALL_WALL_SECONDS = CPU_PROFILE.max_wall_seconds / 45
RUNS = 150
SPEND_ALL = replace(CPU_PROFILE, min_samples=10_000)


def _session(profile: StoppingProfile, noise: Iterator[float]) -> tuple[list[float], StopReason]:
    rule, samples = StoppingRule(profile), list[float]()
    while True:
        samples.append(next(noise))
        if reason := rule.add(samples[-1] * 1e-4, len(samples) * CALL_WALL_SECONDS):
            return samples, reason


@given(st.lists(st.floats(0.5, 2.0), min_size=9, max_size=60), st.floats(0.01, 1.0), st.floats(1.0, 8.0))
def test_less_can_be_hoped_for_the_more_is_spent_and_the_more_samples_depend(
    samples: list[float], spent: float, correlation: float
) -> None:
    ordered = sorted(samples)
    least = least_half_width(ordered, correlation, spent)
    assert least <= relative_half_width(ordered, correlation)
    assert least <= least_half_width(ordered, correlation, min(1.0, 2 * spent))
    assert least_half_width(ordered, 1.0, spent) <= least
    assert least_half_width(ordered, correlation, 2.0) == least_half_width(ordered, correlation, 1.0)


def test_a_processors_kernel_is_given_up_as_soon_as_its_precision_is_out_of_reach() -> None:
    samples, reason = _session(CPU_PROFILE, iter([1.0, 1.4] * 20))
    assert (len(samples), reason) == (9, StopReason.OUT_OF_REACH)
    samples, reason = _session(CPU_PROFILE, iter([1.0, 1.01] * 20))
    assert (len(samples), reason) == (9, StopReason.PRECISION)


def test_a_processors_kernel_is_not_given_up_while_its_interval_says_nothing() -> None:
    """Seen on a loaded machine: two of the first nine calls had waited for a processor."""
    waited = [34.0, 1.7, 19.0, 1.4, 1.5, 1.8, 1.4, 1.5, 1.5]
    samples, reason = _session(CPU_PROFILE, iter([*waited, *[1.3, 1.5] * 20]))
    assert (len(samples), reason) == (12, StopReason.OUT_OF_REACH)
    assert relative_half_width(sorted(waited)) > CPU_PROFILE.telling_half_width
    samples, reason = _session(CPU_PROFILE, iter([1.0, 3.0] * 40))
    assert (len(samples), reason) == (45, StopReason.WALL_TIME)


def test_what_is_given_up_would_not_have_become_precise() -> None:
    """Among many kernels about as noisy as can just be measured, more samples would have helped only a few."""
    wrong = given_up = 0
    for run in range(300):
        samples = list(islice(_white(f"{run}", 0.06), 45))
        _, reason = _session(CPU_PROFILE, iter(samples))
        given_up += reason is StopReason.OUT_OF_REACH
        reached = relative_half_width(sorted(samples), correlation_time(samples)) <= CPU_PROFILE.useful_half_width
        wrong += reason is StopReason.OUT_OF_REACH and reached
    assert given_up > 20
    assert wrong <= 0.05 * given_up


@pytest.mark.parametrize(
    ("sigma", "between_sessions", "least"),
    [(0.01, 0.0, 0.92), (0.04, 0.0, 0.92), (0.15, 0.0, 0.92), (0.02, 0.02, 0.75), (0.01, 0.05, 0.75)],
)
def test_the_interval_still_covers_when_sessions_end_early(sigma: float, between_sessions: float, least: float) -> None:
    """By chance, three sessions lie on the same side in one of four cases, so no interval of them covers more often."""
    covered = {CPU_PROFILE: 0, SPEND_ALL: 0}
    for profile in covered:
        for run in range(RUNS):
            noises = [_white(f"{run} {session}", sigma, between_sessions) for session in range(3)]
            sessions = [_session(profile, noise)[0] for noise in noises]
            low, high = interval_of_sessions(sessions)
            time = score([median(session) for session in sessions])
            covered[profile] += min(low, time) <= 1 <= max(high, time)
    assert covered[CPU_PROFILE] >= least * RUNS
    assert covered[CPU_PROFILE] >= covered[SPEND_ALL] - 0.06 * RUNS


@pytest.mark.parametrize("noise", ["skewed", "correlated", "bimodal"])
def test_the_interval_of_a_slow_kernel_covers_as_often_as_with_a_hundred_samples(noise: str) -> None:
    truth = median(islice(MODELS[noise](random.Random(0)), 20_000))  # noqa: S311 - a simulation
    late = replace(GPU_PROFILE, slow_device_seconds=math.inf)
    covered, taken = {GPU_PROFILE: 0, late: 0}, {GPU_PROFILE: 0, late: 0}
    for profile, run in product(covered, range(100)):
        noises = [MODELS[noise](random.Random(f"{run} {session}")) for session in range(3)]  # noqa: S311 - a simulation
        sessions = [_slow_session(profile, one) for one in noises]
        low, high = interval_of_sessions(sessions)
        covered[profile] += low <= 0.1 * truth <= high
        taken[profile] += sum(map(len, sessions))
    assert covered[GPU_PROFILE] >= max(85, covered[late] - 6)
    assert taken[GPU_PROFILE] < taken[late]


def _slow_session(profile: StoppingProfile, noise: Iterator[float]) -> list[float]:
    """The samples of a session whose calls take a tenth of a second."""
    samples = [0.1 * factor for factor in islice(noise, profile.max_samples)]
    return samples[: _stop(profile, samples)[0]]


@pytest.mark.parametrize("noise", ["skewed", "correlated", "stepping", "bimodal"])
def test_giving_up_changes_nothing_of_what_ranks(noise: str) -> None:
    """The best of twenty submissions gains as little as before, since each takes the same samples as before."""
    patient = replace(GPU_PROFILE, useful_half_width=math.inf)
    for seed in range(3):
        samples = [1e-4 * factor for factor in islice(MODELS[noise](random.Random(seed)), 2000)]  # noqa: S311 - a simulation
        assert _stop(GPU_PROFILE, samples) == _stop(patient, samples)


def test_a_kernel_that_ranks_is_given_up_only_where_it_could_have_no_time() -> None:
    draw = random.Random(5)  # noqa: S311 - a simulation
    hopeless = [1e-4 * draw.choice([1, 20]) for _ in range(2000)]
    assert _stop(GPU_PROFILE, hopeless) == (100, StopReason.OUT_OF_REACH)
