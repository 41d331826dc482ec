"""Orphans: machines that a provider has but the record does not.

Ours are recognised by their token (`machine_token.py`). If the record says that one was released, it is released once
more; if the record has lost it, it is adopted. A machine in our name that has no executor, for example because somebody
deleted its run, is released. A machine with our pool's name but not our token belongs to somebody else, or to a pool
whose secret is lost. It is reported, or released if the settings say so.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from servicekit.db.database import EPOCH, MICROSECOND
from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.errors import MachineNotFoundError, ProviderError
from services.vmpool.lifecycle.machine_order import resource_of
from services.vmpool.machines.machine import Machine, MachineState, Origin
from services.vmpool.machines.orphan_policy import OrphanPolicy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from servicekit.clock import Clock
    from services.vmpool.machines.machine_token import MachineTokens
    from services.vmpool.providers.provider import MachineProvider, Order
    from services.vmpool.providers.provider_set import ProviderSet
    from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

INTERVAL = timedelta(seconds=20)
"""Time between two looks at one provider, so that no machine is without a record for as long as a minute."""
LOOK_SECONDS = 10.0
"""A provider that hangs, or takes long to release, holds up the others for at most this long."""
HANDLING_SECONDS = 900.0
"""Time limit for one try to release an orphan, so that a try that hangs is repeated."""


class Orphans:
    """Looks for orphans at every provider, every `INTERVAL`."""

    def __init__(
        self,
        machines: MachineStore,
        providers: ProviderSet,
        tokens: MachineTokens,
        policy: OrphanPolicy,
        clock: Clock,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._machines = machines
        self._providers = providers
        self._tokens = tokens
        self._policy = policy
        self._clock = clock
        self._look_seconds = look_seconds
        self._reported: set[str] = set()
        self._last_look: dict[str, datetime] = {}
        self._handling: dict[str, asyncio.Task[None]] = {}

    async def look(self) -> None:
        """Adopt, report or release the machines that the record lacks; a listing that fails is repeated soon."""
        await asyncio.gather(*(self._guarded(provider) for provider in self._providers if self._is_due(provider)))

    def _is_due(self, provider: MachineProvider) -> bool:
        last = self._last_look.get(provider.name)
        return last is None or abs(self._clock.now() - last) >= INTERVAL

    async def close(self) -> None:
        """Cancel the work under way."""
        tasks = list(self._handling.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, provider: MachineProvider) -> None:
        now = self._clock.now()
        try:
            async with asyncio.timeout(self._look_seconds):
                unknown = await self._unknown(provider)
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels(provider.name).inc()
            log.warning("could not look for orphans", extra={"provider": provider.name, "error": str(error)})
        except Exception:
            # A fault of a plug-in must not keep the pool from its machines.
            log.exception("could not look for orphans", extra={"provider": provider.name})
        else:
            self._last_look[provider.name] = now
            await self._handle_all(provider, unknown)

    async def _unknown(self, provider: MachineProvider) -> Sequence[str]:
        # The order matters: a machine is in the record before it is at the provider. So a machine that is listed first
        # and then missing from the record was not put there by us, or not since the record began.
        listed = await provider.list_all()
        known = {machine.machine_id for machine in await self._machines.unreleased()}
        unknown = [machine_id for machine_id in listed if machine_id not in known]
        metrics.orphans.labels(provider.name).set(len(unknown))
        return unknown

    async def _handle_all(self, provider: MachineProvider, unknown: Sequence[str]) -> None:
        """Handle each machine by itself, so that one that cannot be released holds up no other."""
        for machine_id in unknown:
            if machine_id not in self._handling:
                task = asyncio.create_task(self._handle_guarded(provider, machine_id))
                self._handling[machine_id] = task
                task.add_done_callback(partial(self._handled, machine_id))
        if tasks := [self._handling[machine_id] for machine_id in unknown]:
            await asyncio.wait(tasks, timeout=self._look_seconds)

    def _handled(self, machine_id: str, task: asyncio.Task[None]) -> None:
        del task
        self._handling.pop(machine_id, None)

    async def _handle_guarded(self, provider: MachineProvider, machine_id: str) -> None:
        about = {"provider": provider.name, "machine_id": machine_id}
        try:
            async with asyncio.timeout(HANDLING_SECONDS):
                await self._handle(provider, machine_id)
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels(provider.name).inc()
            log.warning("could not deal with an orphan", extra={**about, "error": str(error)})
        except Exception:
            log.exception("could not deal with an orphan", extra=about)

    async def _handle(self, provider: MachineProvider, machine_id: str) -> None:
        if (known := await self._known(machine_id)) is not None:
            log.warning("releasing a machine once more", extra={"machine_id": machine_id, "provider": provider.name})
            await provider.release(machine_id, resource_of(known))
            return
        order = await provider.order_of(machine_id)
        if order is None:
            log.warning("releasing an empty machine", extra={"machine_id": machine_id, "provider": provider.name})
            await provider.release(machine_id)
        elif self._tokens.are_ours(machine_id, order.token):
            adopted = adopted_machine(provider.name, order, self._clock.now())
            await self._machines.add(adopted, adopted.reason)
            log.warning("adopted a machine", extra={"machine_id": machine_id, "provider": provider.name})
        elif self._policy is OrphanPolicy.RELEASE:
            log.warning(
                "releasing a machine that is not ours", extra={"machine_id": machine_id, "provider": provider.name}
            )
            await provider.release(machine_id)
        elif machine_id not in self._reported:
            self._reported.add(machine_id)
            log.error(
                "a machine has our pool's name and not our token: it is left alone and costs money; release it at the "
                "provider, or set VMPOOL_STRANGERS=release",
                extra={"machine_id": machine_id, "provider": provider.name},
            )

    async def _known(self, machine_id: str) -> Machine | None:
        try:
            return await self._machines.get(machine_id)
        except MachineNotFoundError:
            return None


def adopted_machine(provider: str, order: Order, now: datetime) -> Machine:
    """The machine to add to the record, as PROVISIONING, so that the driver takes it on.

    Its cost counts from now, because its earlier cost was lost with the record. So was the number of its leases. Its
    executor expects a higher fencing token than any before, and the time in microseconds is higher.
    """
    return Machine(
        machine_id=order.machine_id,
        provider=provider,
        gpu_type=order.gpu_type,
        gpu_count=order.gpu_count,
        token=order.token,
        price_micros_per_hour=0,
        backend=order.backend,
        region=order.region,
        spot=order.spot,
        origin=Origin.ADOPTED,
        create_time=now,
        state_time=now,
        provision_time=now,
        state=MachineState.PROVISIONING,
        reason="it was found at the provider with our token, and adopted",
        occupied=(0,) * order.gpu_count,
        fencing_token=(now - EPOCH) // MICROSECOND,
    )
