"""When a benchmark has enough samples.

It stops once the 95 % confidence interval of the median is narrow, or at a cap. The caps depend on the device and are
part of the report; a case that was stopped by a cap says `converged: false`, and its interval says how sure it is.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from enum import StrEnum

from services.executor.core.statistics import relative_half_width


class StopReason(StrEnum):
    """What ended a measurement."""

    PRECISION = "precision"
    SAMPLES = "samples"
    DEVICE_TIME = "device_time"
    WALL_TIME = "wall_time"


@dataclass(frozen=True)
class StoppingProfile:
    """The precision to reach and the most to spend on one case.

    Time caps do not stop it before `fewest_samples`, so that even a slow case has a median and a spread.
    """

    min_samples: int = 100
    check_every: int = 20
    relative_half_width: float = 0.0025
    max_samples: int = 2_000
    max_device_seconds: float = 10.0
    max_wall_seconds: float = 60.0
    fewest_samples: int = 10
    warm_up_calls: int = 10
    warm_up_seconds: float = 0.2
    warm_up_cap_seconds: float = 2.0

    def is_warm(self, calls: int, device_seconds: float, wall_seconds: float) -> bool:
        """Whether the calls so far warmed the device up; they are calls like any other, only not counted."""
        enough = calls >= self.warm_up_calls and device_seconds >= self.warm_up_seconds
        return enough or (calls > 0 and wall_seconds >= self.warm_up_cap_seconds)


GPU_PROFILE = StoppingProfile()
# A processor's clock and caches are warm after the checks, and its times rank nowhere: a second is enough.
CPU_PROFILE = StoppingProfile(
    max_device_seconds=0.8,
    max_wall_seconds=0.8,
    fewest_samples=5,
    warm_up_calls=1,
    warm_up_seconds=0.0,
    warm_up_cap_seconds=0.1,
)


class StoppingRule:
    """Fed with samples, says when to stop."""

    def __init__(self, profile: StoppingProfile) -> None:
        self._profile = profile
        self._ordered: list[float] = []
        self._device_seconds = 0.0

    def add(self, sample_seconds: float, wall_seconds: float) -> StopReason | None:
        """Take a sample; `wall_seconds` is the time since the measurement began. None means: go on."""
        bisect.insort(self._ordered, sample_seconds)
        self._device_seconds += sample_seconds
        if self._is_precise():
            return StopReason.PRECISION
        return self._cap(wall_seconds)

    def _is_precise(self) -> bool:
        profile, count = self._profile, len(self._ordered)
        due = count >= profile.min_samples and (count - profile.min_samples) % profile.check_every == 0
        return due and relative_half_width(self._ordered) <= profile.relative_half_width

    def _cap(self, wall_seconds: float) -> StopReason | None:
        profile = self._profile
        if len(self._ordered) >= profile.max_samples:
            return StopReason.SAMPLES
        if len(self._ordered) < profile.fewest_samples:
            return None
        if self._device_seconds >= profile.max_device_seconds:
            return StopReason.DEVICE_TIME
        return StopReason.WALL_TIME if wall_seconds >= profile.max_wall_seconds else None
