from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.autocorrelation import correlation_time
from services.executor.core.statistics import relative_half_width
from services.executor.core.stopping import CPU_PROFILE, GPU_PROFILE, StoppingProfile, StoppingRule, StopReason
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
    """The case that order statistics of independent samples get wrong: by them, all stop at the first look."""
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
    assert not GPU_PROFILE.is_warm([], 5.0)


@given(st.floats(1e-5, 1e-1), st.integers(10, 40))
def test_it_is_not_warm_while_calls_get_shorter(seconds: float, calls: int) -> None:
    profile = replace(GPU_PROFILE, warm_up_seconds=0.0)
    getting_shorter = [seconds * (2 - 0.001 * call) for call in range(calls)]
    nearly_steady = [seconds * (2 - 0.0001 * call) for call in range(calls)]
    assert not profile.is_warm([seconds * (2 - 0.01 * call) for call in range(calls)], 1.0)
    assert profile.is_warm(nearly_steady, 1.0)
    assert profile.is_warm([*getting_shorter, *[seconds] * 10], 1.0)
    assert replace(profile, warm_up_slope=None).is_warm(getting_shorter, 1.0)


@given(st.lists(st.floats(1e-3, 1.0), max_size=30))
def test_a_slow_warm_up_has_no_say_in_the_number_of_samples(warm_up: list[float]) -> None:
    GPU_PROFILE.is_warm(warm_up, sum(warm_up))
    assert _stop(GPU_PROFILE, [1e-5] * 3000) == (100, StopReason.PRECISION)
