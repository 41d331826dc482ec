"""Machines that can be had."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from vocabulary.money import MICROSECOND, Tariff


@dataclass(frozen=True, order=True)
class Source:
    """Where machines of one kind come from; what goes wrong with one says something of the others."""

    provider: str
    backend: str
    gpu_type: str

    @property
    def place(self) -> str:
        """The provider and, where it has several, the backend."""
        return f"{self.provider}/{self.backend}" if self.backend else self.provider

    def __str__(self) -> str:
        """For people."""
        return f"{self.gpu_type} at {self.place}"


@dataclass(frozen=True)
class Offer:
    """A kind of machine that can be had; the price is the whole machine's, in micro-dollars per hour.

    `available` is False where the provider lists it and says that there is none now. `minimum_billed` and
    `billing_increment` are how the provider counts its time.
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

    @property
    def source(self) -> Source:
        """Whom it comes from."""
        return Source(self.provider, self.backend, self.gpu_type)

    @property
    def price_micros_per_gpu_hour(self) -> int:
        """What an hour of one of its GPUs costs, rounded up to the next micro-dollar."""
        return -(-self.price_micros_per_hour // self.gpu_count)

    @property
    def tariff(self) -> Tariff:
        """How the machine would be billed."""
        return Tariff(self.price_micros_per_hour, self.minimum_billed, self.billing_increment)
