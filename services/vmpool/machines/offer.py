"""Machines that can be had, and their sources."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from vocabulary.money import MICROSECOND, Tariff

START_MARGIN = timedelta(minutes=30)
"""Part of a machine's life that may pass before its reservation begins. Without it, a machine would be started that no
longer lasts long enough when it is ready, and then the next one."""


@dataclass(frozen=True, order=True)
class Source:
    """A provider, backend and GPU type. A fault of one of its machines says something about the others."""

    provider: str
    backend: str
    gpu_type: str

    @property
    def place(self) -> str:
        """The provider, with the backend if it has several."""
        return f"{self.provider}/{self.backend}" if self.backend else self.provider

    def __str__(self) -> str:
        """Text for people."""
        return f"{self.gpu_type} at {self.place}"


@dataclass(frozen=True)
class Offer:
    """A kind of machine that can be had; the price is the whole machine's, in micro-dollars per hour.

    `available` is False if the provider lists it but has none now. The provider bills at least `minimum_billed`, then
    whole `billing_increment`s, and ends the machine after `longest_life`, a setting that `life_setting` names; 0: no
    limit.
    """

    provider: str
    gpu_type: str
    gpu_count: int
    price_micros_per_hour: int
    backend: str = ""
    region: str = ""
    spot: bool = False
    available: bool = True
    minimum_billed: timedelta = timedelta(0)
    billing_increment: timedelta = MICROSECOND
    longest_life: timedelta = timedelta(0)
    life_setting: str = ""

    @property
    def source(self) -> Source:
        """The source that the machine comes from."""
        return Source(self.provider, self.backend, self.gpu_type)

    def life_refusal(self, longest_time: timedelta) -> str:
        """Why its machine would not last for a reservation of that length; empty if it would."""
        if not self.longest_life or not longest_time or longest_time + START_MARGIN <= self.longest_life:
            return ""
        return (
            f"its machines live for {self.longest_life.total_seconds():g} s at most ({self.life_setting}), and the "
            f"reservation takes {longest_time.total_seconds():g} s, beside {START_MARGIN.total_seconds():g} s to start"
        )

    @property
    def price_micros_per_gpu_hour(self) -> int:
        """The price of one of its GPUs for an hour, rounded up to the next micro-dollar."""
        return -(-self.price_micros_per_hour // self.gpu_count)

    @property
    def tariff(self) -> Tariff:
        """The machine's price and billing rules."""
        return Tariff(self.price_micros_per_hour, self.minimum_billed, self.billing_increment)
