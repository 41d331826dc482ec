"""The protocol of the providers that machines come from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, runtime_checkable

from services.vmpool.fault import Fault
from services.vmpool.machines.offer import Offer


class ProviderState(StrEnum):
    """A machine's state as its provider sees it."""

    PENDING = "pending"
    """It is being made; `stage` is the provider's own word for its progress."""
    RUNNING = "running"
    """It runs; its executor answers at `endpoint`, or soon will."""
    ENDED = "ended"
    """It broke or was taken away; `reason` says why. It may still have to be released."""
    STOPPED = "stopped"
    """It was ended on purpose, or had done all its work; `reason` says why. It may still have to be released."""
    GONE = "gone"
    """The provider knows no such machine."""
    UNKNOWN = "unknown"
    """The provider does not answer, or uses words that we do not know. It never means that the machine is gone."""


@dataclass(frozen=True)
class Resource:
    """A provider's name and id of a machine, as far as they are known.

    The `name` is chosen before the order and kept in the record, because the settings that it was made from may change.
    If it is empty, the machine has the name that the present settings give it. `resource_id` is the provider's own,
    once it has made something.
    """

    name: str = ""
    resource_id: str = ""


UNNAMED = Resource()


@dataclass(frozen=True)
class Observation:
    """A provider's report on a machine now.

    `endpoint` is a gRPC target that reaches the executor from this host: `127.0.0.1:port`, or `unix:/path` if the
    provider reaches it over a connection of its own. `fault` and `exit_status` are set for a machine that is over.
    `backend`, `region`, price, `minimum_billed` and `billing_increment` are the order's result, once it is known.
    `rented` is false if the provider took the order but made no machine for it: then it costs nothing.
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
    """A machine to make. `name` empty: the name that `resource_name` gives. Its executor asks callers for `token`.

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

    Methods raise ProviderError, in the provider's own words, if it refuses. OSError and TimeoutError mean that it could
    not be asked, so that nothing is known.
    """

    @property
    def name(self) -> str:
        """The provider's name, which its machines are labelled with."""
        ...

    @property
    def ends_with_pool(self) -> bool:
        """True if its machines are to be stopped when vmpool stops, not left to the next start."""
        ...

    @property
    def start_timeout(self) -> timedelta:
        """Time that a machine may take from being asked for to a ready executor."""
        ...

    async def start(self) -> None:
        """Get ready, and check the settings; raises ProviderError if they are wrong.

        A provider that refuses makes no offers until it starts, and is tried again. Its other methods are still called,
        for the machines that it has. A provider that cannot be reached now does not refuse, because it may come back.
        """
        ...

    async def close(self) -> None:
        """Close connections and threads. Machines stay as they are."""
        ...

    async def offers(self) -> Sequence[Offer]:
        """The machines that can be had now, cheapest first for each GPU type."""
        ...

    def resource_name(self, machine_id: str) -> str:
        """The name for the machine at this provider, by the present settings."""
        ...

    async def provision(self, order: Order) -> None:
        """Begin to make the machine; does nothing if it exists already."""
        ...

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """The machine's state now."""
        ...

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:
        """End the machine. Once this returns, it is gone and costs nothing more. An unknown machine is no error."""
        ...

    async def list_all(self) -> Sequence[str]:
        """Ids of all machines of ours that exist, known to the pool or not."""
        ...

    async def order_of(self, machine_id: str) -> Order | None:
        """The machine's order, with its executor's token; None if no executor of ours can be there."""
        ...

    def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:
        """The executor's output in pieces, oldest first; with `follow`, also later output until its end.

        Raises ProviderError if the provider keeps no output of that machine.
        """
        ...


@runtime_checkable
class Paced(Protocol):
    """A provider that must not be asked about one machine too often."""

    @property
    def poll_interval(self) -> timedelta:
        """Time for which an answer about a machine is used before the next question."""
        ...


@runtime_checkable
class Outliving(Protocol):
    """A provider whose machines can go on for hours without vmpool, so that the next one takes them over."""

    @property
    def keeps_reserved(self) -> bool:
        """True if machines with reservations are left when vmpool stops, even if `ends_with_pool`."""
        ...


@dataclass(frozen=True)
class ProviderFinding:
    """The result of one check; `remedy` is the advice, if there is any."""

    check: str
    """Name of the check, in a word or two."""
    ok: bool
    message: str
    remedy: str = ""


@runtime_checkable
class Diagnosable(Protocol):
    """A provider that can look for its own faults."""

    async def diagnose(self) -> Sequence[ProviderFinding]:
        """Check everything that making machines needs, and change nothing.

        A fault is a finding. If ProviderError or OSError is raised, it is reported as a finding too.
        """
        ...


@dataclass(frozen=True)
class Scope:
    """All that a provider could ever offer by its settings, whatever it has now."""

    gpu_counts: tuple[int, ...]
    """GPU counts of a machine."""
    backends: tuple[str, ...] = ()
    longest_life: timedelta = timedelta(0)
    """It ends its machines after that time, which `life_setting` sets; 0: no limit."""
    life_setting: str = ""
    gpu_types: tuple[str, ...] = ()
    """The GPU types that it has; empty if it may have any."""
    is_spot: bool | None = None
    """Whether all of its machines are spot machines, or none is; None if both may be."""


@runtime_checkable
class Scoped(Protocol):
    """A provider that knows its scope."""

    @property
    def scope(self) -> Scope:
        """The GPU counts, the backends and the life of machines that it could ever offer."""
        ...
