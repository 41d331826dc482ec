"""Decides when a benchmark has enough samples.

It stops when the 95 % confidence interval of the median is narrow, at a cap, or as soon as the samples show that the
rest of the budget would not make the interval narrow enough. The caps depend on the device and are part of the report.
A case whose interval did not become narrow says `converged: false`, and its interval says how sure it is. The interval
allows for samples that depend on each other (see `autocorrelation.py`): otherwise a clock that drifts slowly looks
precise, and the rule stops wherever the clock happens to be.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from services.executor.core.timing.autocorrelation import FEWEST, correlation_time
from services.executor.core.timing.case_timing import WIDEST_INTERVAL
from services.executor.core.timing.session_rule import CPU_SESSIONS, GPU_SESSIONS, SessionRule
from services.executor.core.timing.statistics import relative_half_width
from submissions.modes import TimingMode

_FIRST_CALLS = 100
_FEWEST_FIRST_CALLS = 20
"""With 20 samples the median's interval is from the 6th to the 15th; on a GPU each takes about a second."""
_FIRST_CALL_PRECISION = 0.02
"""Half-width of the interval, relative to the time: processes differ by more than the calls of one do."""


class StopReason(StrEnum):
    """The reason why a measurement ended."""

    PRECISION = "precision"
    SAMPLES = "samples"
    DEVICE_TIME = "device_time"
    WALL_TIME = "wall_time"
    OUT_OF_REACH = "out_of_reach"
    """The samples differ so much that the whole budget could not have made the interval narrow enough."""


@dataclass(frozen=True)
class StoppingProfile:
    """The precision to reach and the most to spend on one case in one session, and how many sessions there are.

    Time caps do not stop it before `fewest_samples`, so that even a slow case has a median and a spread. From
    `min_samples` on, the interval is computed every `check_every` samples. After `slow_device_seconds` this begins at
    20 samples already, the fewest whose correlation can be told: more calls of a tenth of a second add little. If even
    the whole budget would leave it wider than `useful_half_width` (relative, like the precision), the rest of the
    budget is not spent, unless the interval is still wider than `telling_half_width`.
    """

    min_samples: int = 100
    check_every: int = 20
    relative_half_width: float = 0.0025
    useful_half_width: float = WIDEST_INTERVAL
    telling_half_width: float = math.inf
    max_samples: int = 2_000
    max_device_seconds: float = 10.0
    slow_device_seconds: float = 1.0
    max_wall_seconds: float = 4.0
    fewest_samples: int = 10
    warm_up_calls: int = 10
    warm_up_seconds: float = 0.2
    warm_up_cap_seconds: float = 1.0
    warm_up_most_calls: int = 200
    """After this many calls the device is warm, even if they were too short for `warm_up_seconds` or a slope."""
    warm_up_slope: float | None = 0.005
    """The device is warm if times change by less than this over the last `warm_up_calls`; None: do not check."""
    cold: bool = True
    """Empty the caches before each call."""
    sessions: SessionRule = GPU_SESSIONS

    def is_warm(self, calls_seconds: Sequence[float], wall_seconds: float) -> bool:
        """True if the calls so far have warmed up the device; they are calls like any other, but are not counted.

        Their number has no influence on the number of samples that follow.
        """
        if len(calls_seconds) > 0 and wall_seconds >= self.warm_up_cap_seconds:
            return True
        if len(calls_seconds) >= self.warm_up_most_calls:
            return True
        enough = len(calls_seconds) >= self.warm_up_calls and sum(calls_seconds) >= self.warm_up_seconds
        return enough and (self.warm_up_slope is None or self._change(calls_seconds) < self.warm_up_slope)

    def _change(self, calls_seconds: Sequence[float]) -> float:
        """The relative change of the time over the last calls: by the median of all pairs' slopes (Theil and Sen)."""
        last = calls_seconds[-self.warm_up_calls :]
        slopes = [(last[j] - last[i]) / (j - i) for i in range(len(last)) for j in range(i + 1, len(last))]
        level = median(last)
        return abs(median(slopes)) * (len(last) - 1) / level if slopes and level > 0 else 0.0


GPU_PROFILE = StoppingProfile()
# A processor's clock and caches are warm after the checks, and its times rank nowhere, so 2 % will do. Nine samples are
# the fewest for which the ends of the median's interval are not the shortest and the longest sample. If some of them
# had to wait for a processor, nine mean little, and the rest of the budget is spent on more.
CPU_PROFILE = StoppingProfile(
    min_samples=9,
    check_every=3,
    relative_half_width=0.02,
    useful_half_width=0.02,
    telling_half_width=0.25,
    max_device_seconds=0.25,
    max_wall_seconds=0.25,
    fewest_samples=3,
    warm_up_calls=1,
    warm_up_seconds=0.0,
    warm_up_cap_seconds=0.1,
    warm_up_slope=None,
    cold=False,
    sessions=CPU_SESSIONS,
)


# With few samples, an interval may by chance be twice or half as wide as with many.
_BAD_LUCK = 2.0


def least_half_width(ordered: Sequence[float], correlation_time: float, spent: float) -> float:
    """The least relative half-width to hope for at the end of the budget, for samples in ascending order.

    `spent` is the share of the budget that they took, above 0. An interval narrows with the root of the number of
    independent samples; and this one may be too wide by bad luck.
    """
    return relative_half_width(ordered, correlation_time) * math.sqrt(min(1.0, spent)) / _BAD_LUCK


class StoppingRule:
    """Takes samples, and says when to stop."""

    def __init__(self, profile: StoppingProfile) -> None:
        self._profile = profile
        self._samples: list[float] = []
        self._ordered: list[float] = []
        self._device_seconds = 0.0

    def add(self, sample_seconds: float, wall_seconds: float) -> StopReason | None:
        """Take a sample; `wall_seconds` is the time since the measurement began. None means: continue."""
        self._samples.append(sample_seconds)
        bisect.insort(self._ordered, sample_seconds)
        self._device_seconds += sample_seconds
        return self._by_interval(wall_seconds) or self._cap(wall_seconds)

    def _by_interval(self, wall_seconds: float) -> StopReason | None:
        profile, count = self._profile, len(self._ordered)
        is_early = count < profile.min_samples
        is_slow = count >= FEWEST and self._device_seconds >= profile.slow_device_seconds
        if (is_early and not is_slow) or (count - profile.min_samples) % profile.check_every:
            return None
        time = correlation_time(self._samples)
        half_width = relative_half_width(self._ordered, time)
        if half_width <= profile.relative_half_width:
            return StopReason.PRECISION
        if is_early or half_width > profile.telling_half_width:
            return None
        is_hopeless = least_half_width(self._ordered, time, self._spent(wall_seconds)) > profile.useful_half_width
        return StopReason.OUT_OF_REACH if is_hopeless else None

    def _spent(self, wall_seconds: float) -> float:
        """The spent share of the budget, by the nearest cap."""
        profile = self._profile
        return max(
            len(self._ordered) / profile.max_samples,
            self._device_seconds / profile.max_device_seconds,
            wall_seconds / profile.max_wall_seconds,
        )

    def _cap(self, wall_seconds: float) -> StopReason | None:
        profile = self._profile
        if len(self._ordered) >= profile.max_samples:
            return StopReason.SAMPLES
        if len(self._ordered) < profile.fewest_samples:
            return None
        if self._device_seconds >= profile.max_device_seconds:
            return StopReason.DEVICE_TIME
        return StopReason.WALL_TIME if wall_seconds >= profile.max_wall_seconds else None


def default_mode(profile: StoppingProfile) -> TimingMode:
    """The timing mode of a device's own budget."""
    return TimingMode.COLD if profile.cold else TimingMode.HOT


def profile_in(mode: TimingMode, profile: StoppingProfile) -> StoppingProfile:
    """A device's budget for one timing mode.

    First calls are samples of one session, as each has its own process already.
    """
    if mode is not TimingMode.FIRST_CALL:
        return replace(profile, cold=mode is TimingMode.COLD)
    return replace(
        profile,
        min_samples=_FEWEST_FIRST_CALLS,
        check_every=5,
        relative_half_width=_FIRST_CALL_PRECISION,
        max_samples=_FIRST_CALLS,
        sessions=SessionRule(sessions=1, more_sessions=0, tolerance=None),
    )
