"""What queues used in the past, decayed: it counts against a queue when the surplus is divided."""

from __future__ import annotations

from dataclasses import dataclass

PPM = 1_000_000
"""Shares of the cluster's capacity are in millionths."""


def decayed(amount: int, age_seconds: int, half_life_seconds: int) -> int:
    """What is left of an amount: half of it after each half-life, all of it if the half-life is 0."""
    if not half_life_seconds:
        return amount
    return round(amount * 2.0 ** (-age_seconds / half_life_seconds))


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """Usage and capacity of one resource, in units times seconds, as decayed at a time.

    Capacity decays like usage, so their ratio is the share of the cluster that the queue had.
    """

    time_seconds: int
    used: int = 0
    capacity: int = 0

    def at(self, time_seconds: int, half_life_seconds: int) -> UsageRecord:
        """The record at a later time, if nothing was used in between."""
        age = time_seconds - self.time_seconds
        return UsageRecord(
            time_seconds, decayed(self.used, age, half_life_seconds), decayed(self.capacity, age, half_life_seconds)
        )

    def after(self, time_seconds: int, used: int, capacity: int, half_life_seconds: int) -> UsageRecord:
        """The record at a later time, if `used` of `capacity` were in use since."""
        age = time_seconds - self.time_seconds
        faded = self.at(time_seconds, half_life_seconds)
        return UsageRecord(time_seconds, faded.used + used * age, faded.capacity + capacity * age)

    @property
    def share_ppm(self) -> int:
        """The share of the capacity that was used, in millionths; 0 before anything was recorded."""
        return self.used * PPM // self.capacity if self.capacity else 0
