"""Where machines come from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from services.vmpool.fault import Fault
from services.vmpool.machines.offer import Offer  # noqa: TC001 - adapters take it from here, with the rest of the protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


class ProviderState(StrEnum):
    """A machine as its provider sees it."""

    PENDING = "pending"
    """It is being made; `stage` has the provider's own word for how far it is."""
    RUNNING = "running"
    """It runs; its executor answers at `endpoint`, or soon will."""
    ENDED = "ended"
    """It broke, or was taken away; `reason` tells why. It may still have to be released."""
    STOPPED = "stopped"
    """It was ended on purpose, or had done all that it was to do; `reason` tells why. It may have to be released."""
    GONE = "gone"
    """The provider knows no such machine."""
    UNKNOWN = "unknown"
    """The provider does not answer, or in words that we do not know. Never taken to mean that the machine is gone."""


@dataclass(frozen=True)
class Resource:
    """What a provider calls a machine, as far as it is known.

    The `name` is chosen before the order and kept in the record, because the settings that it was made from may change;
    `resource_id` is the provider's own, once it has made something. An empty name: the one that the present settings
    give the machine.
    """

    name: str = ""
    resource_id: str = ""


UNNAMED = Resource()


@dataclass(frozen=True)
class Observation:
    """What a provider says of a machine now.

    `endpoint` is a gRPC target that reaches the executor from this host: `127.0.0.1:port`, or `unix:/path` for one that
    the provider reaches over a connection of its own. `fault` and `exit_status` tell of a machine that is over.
    `backend`, `region`, price, `minimum_billed` and `billing_increment` are what the order came to, once that is known.
    `rented` is false where the provider took the order down and made no machine for it: what ends so costs nothing.
    """

    state: ProviderState
    stage: str = ""
    endpoint: str = ""
    reason: str = ""
    fault: Fault = Fault.NONE
    exit_status: int | None = None
    rented: bool = True
    backend: str = ""
    region: str = ""
    price_micros_per_hour: int | None = None
    minimum_billed: timedelta | None = None
    billing_increment: timedelta | None = None
    resource: Resource = UNNAMED


@dataclass(frozen=True)
class Order:
    """A machine to make under `name`; empty: what `resource_name` gives. Its executor asks callers for `token`.

    `backend` and `region` empty: any. A `max_price_micros_per_hour` of 0 sets no limit, nor does a `max_duration` of 0;
    otherwise the provider ends the machine by itself after that time, as the last guard against leaks.
    """

    machine_id: str
    gpu_type: str
    gpu_count: int
    token: str
    backend: str = ""
    region: str = ""
    spot: bool = False
    max_price_micros_per_hour: int = 0
    max_duration: timedelta = timedelta(0)
    name: str = ""


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

    @property
    def start_timeout(self) -> timedelta:
        """How long a machine may take from being asked for to a ready executor."""
        ...

    async def start(self) -> None:
        """Get ready, and check what the settings name; ProviderError if they are wrong.

        One that refuses so makes no offers until it starts, and is tried again; its other methods are called all the
        same, for the machines that it has. A provider that cannot be reached now does not refuse: it may come back.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and threads; machines stay as they are."""
        ...

    async def offers(self) -> Sequence[Offer]:
        """What can be had now, cheapest first for each GPU type."""
        ...

    def resource_name(self, machine_id: str) -> str:
        """What the machine is to be called here, by the present settings."""
        ...

    async def provision(self, order: Order) -> None:
        """Begin to make the machine; does nothing where it exists already."""
        ...

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """How the machine is now."""
        ...

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:
        """End the machine; once this returns it is gone and costs nothing more. Unknown machines are no error."""
        ...

    async def list_all(self) -> Sequence[str]:
        """All machines of ours that exist, known to the pool or not."""
        ...

    async def order_of(self, machine_id: str) -> Order | None:
        """What the machine was ordered as, with its executor's token; None where no executor of ours can be there."""
        ...

    def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:
        """What the machine's executor printed, in pieces, oldest first; then, with `follow`, what comes until its end.

        ProviderError where the provider keeps none of that machine.
        """
        ...


@runtime_checkable
class Paced(Protocol):
    """A provider that is not to be asked about one machine all the time."""

    @property
    def poll_interval(self) -> timedelta:
        """How long an answer about a machine serves before the next question."""
        ...
