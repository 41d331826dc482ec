"""Where machines come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class ProviderState(StrEnum):
    """A machine as its provider sees it."""

    PENDING = "pending"
    """It is being made; `stage` has the provider's own word for how far it is."""
    RUNNING = "running"
    """It runs; its executor answers at `endpoint`, or soon will."""
    ENDED = "ended"
    """It is over, and `reason` tells why. It may still have to be released."""
    GONE = "gone"
    """The provider knows no such machine."""
    UNKNOWN = "unknown"
    """The provider does not answer, or in words that we do not know. Never taken to mean that the machine is gone."""


@dataclass(frozen=True)
class Observation:
    """What a provider says of a machine now."""

    state: ProviderState
    stage: str = ""
    endpoint: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Offer:
    """A kind of machine that can be had; the price is the whole machine's, in micro-dollars per hour."""

    gpu_type: str
    gpu_count: int
    price_micros_per_hour: int


@dataclass(frozen=True)
class Order:
    """A machine to make. `token` is what its executor is to ask of callers."""

    machine_id: str
    gpu_type: str
    gpu_count: int
    token: str


class MachineProvider(Protocol):
    """Makes and releases machines. Every method may be repeated, and machine ids are ours.

    Methods raise ProviderError, in the provider's own words, where it refuses; OSError and TimeoutError mean that it
    could not be asked, and that nothing is known.
    """

    @property
    def name(self) -> str:
        """What machines of this provider are labelled with."""
        ...

    @property
    def ends_with_pool(self) -> bool:
        """Whether its machines are to be stopped when vmpool is stopped, not merely left to the next start."""
        ...

    async def offers(self) -> Sequence[Offer]:
        """What can be had now, cheapest first for each GPU type."""
        ...

    async def provision(self, order: Order) -> None:
        """Begin to make the machine; does nothing where it exists already."""
        ...

    async def observe(self, machine_id: str) -> Observation:
        """How the machine is now."""
        ...

    async def release(self, machine_id: str) -> None:
        """End the machine; once this returns it is gone and costs nothing more. Unknown machines are no error."""
        ...

    async def list_all(self) -> Sequence[str]:
        """All machines of ours that exist, known to the pool or not."""
        ...
