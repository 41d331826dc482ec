"""Moves one machine one step on: asks its provider and its executor how it is, and writes down what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.executor_client import ExecutorUnreachableError
from services.vmpool.lease import EXPIRY_GRACE, LeaseState, expired_run_is_gone
from services.vmpool.machine import OVER, READY, MachineState
from services.vmpool.providers.provider import Order, ProviderState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime, timedelta

    from servicekit.clock import Clock
    from services.vmpool.executor_client import Executors, Health
    from services.vmpool.health_book import HealthBook
    from services.vmpool.machine import Machine
    from services.vmpool.providers.provider import MachineProvider
    from services.vmpool.store.lease_store import LeaseStore
    from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

_OVER_AT_PROVIDER = frozenset({ProviderState.ENDED, ProviderState.GONE})


@dataclass(frozen=True)
class Senses:
    """How the driver learns what a machine does, and how long it waits for it to become ready."""

    provider: MachineProvider
    executors: Executors
    health: HealthBook
    start_timeout: timedelta


class MachineDriver:
    """Drives machines; every step may be repeated, and a step that comes too late is refused by the store."""

    def __init__(self, machines: MachineStore, leases: LeaseStore, senses: Senses, clock: Clock) -> None:
        self._machines = machines
        self._leases = leases
        self._provider = senses.provider
        self._executors = senses.executors
        self._health = senses.health
        self._start_timeout = senses.start_timeout
        self._clock = clock
        self._steps: Mapping[MachineState, Callable[[Machine], Awaitable[None]]] = {
            MachineState.REQUESTED: self._provision,
            MachineState.PROVISIONING: self._await_provider,
            MachineState.STARTING: self._await_executor,
            MachineState.WARM: self._watch,
            MachineState.BUSY: self._watch,
            MachineState.DRAINING: self._drain,
            MachineState.FAILED: self._release,
            MachineState.LOST: self._release,
            MachineState.STOPPED: self._release,
        }

    async def drive(self, machine: Machine) -> None:
        """Take the step that the machine's state asks for."""
        await self._steps[machine.state](machine)

    async def end(self, machine: Machine) -> None:
        """Stop a machine whatever it does, because the pool itself stops."""
        if machine.state not in {MachineState.DRAINING, *OVER}:
            machine = await self._change(machine, machine.drain(self._clock.now(), "the pool is stopping"))
        await self._release(machine)

    async def _provision(self, machine: Machine) -> None:
        now = self._clock.now()
        try:
            await self._provider.provision(
                Order(machine.machine_id, machine.gpu_type, machine.gpu_count, machine.token)
            )
        except ProviderError as error:
            await self._change(machine, machine.fail(now, str(error)))
            return
        await self._change(machine, machine.provision(now))

    async def _await_provider(self, machine: Machine) -> None:
        seen = await self._provider.observe(machine.machine_id)
        now = self._clock.now()
        if seen.state in _OVER_AT_PROVIDER:
            await self._change(machine, machine.fail(now, seen.reason))
        elif seen.state is ProviderState.RUNNING:
            await self._change(machine, machine.start(now, seen.endpoint))
        elif self._is_late(machine, now):
            await self._change(machine, machine.fail(now, self._too_late(seen.stage or "the provider is making it")))
        elif seen.state is ProviderState.PENDING and seen.stage != machine.provider_stage:
            await self._change(machine, machine.progress(seen.stage))

    async def _await_executor(self, machine: Machine) -> None:
        seen = await self._provider.observe(machine.machine_id)
        if seen.state in _OVER_AT_PROVIDER:
            await self._change(machine, machine.fail(self._clock.now(), seen.reason))
            return
        try:
            health = await self._executors.health(machine.endpoint)
        except ExecutorUnreachableError as error:
            now = self._clock.now()
            if self._is_late(machine, now):
                await self._change(
                    machine, machine.fail(now, self._too_late(f"its executor does not answer ({error})"))
                )
            return
        now = self._clock.now()
        self._health.heard(machine.machine_id, now)
        await self._change(machine, machine.join(now, health.inventory))

    async def _watch(self, machine: Machine) -> None:
        """Notice a machine that died, and expired leases whose runs are gone."""
        seen = await self._provider.observe(machine.machine_id)
        if seen.state in _OVER_AT_PROVIDER:
            await self._change(machine, machine.lose(self._clock.now(), seen.reason))
            return
        if not self._health.is_due(machine.machine_id, self._clock.now()):
            return
        try:
            health = await self._executors.health(machine.endpoint)
        except ExecutorUnreachableError as error:
            await self._unanswered(machine, error)
            return
        self._health.heard(machine.machine_id, self._clock.now())
        if health.unfit_reason and machine.state in READY:
            await self._change(machine, machine.drain(self._clock.now(), f"unfit: {health.unfit_reason}"))
            return
        if machine.occupied != (0,) * machine.gpu_count:
            await self._free_expired(machine, health)

    async def _unanswered(self, machine: Machine, error: ExecutorUnreachableError) -> None:
        now = self._clock.now()
        silence = self._health.silence(machine.machine_id, now).total_seconds()
        log.warning(
            "a machine does not answer",
            extra={"machine_id": machine.machine_id, "silence_seconds": silence, "error": str(error)},
        )
        if self._health.is_lost(machine.machine_id, now):
            reason = f"its executor has not answered for {silence:.0f} s ({error})"
            await self._change(machine, machine.lose(now, reason))

    async def _free_expired(self, machine: Machine, health: Health) -> None:
        now = self._clock.now()
        standing = await self._leases.standing_on(machine.machine_id)
        active = sum(lease.state is LeaseState.ACTIVE for lease in standing)
        expired = [lease for lease in standing if lease.state is LeaseState.EXPIRED]
        for lease in expired:
            if expired_run_is_gone(lease, health.runs_in_flight, active, now):
                await self._leases.release(lease.lease_id, "its run is gone")
            elif now - lease.expire_time >= EXPIRY_GRACE and machine.state in READY:
                await self._change(machine, machine.drain(now, f"a run outlived its lease {lease.lease_id}"))
                return

    async def _drain(self, machine: Machine) -> None:
        if any(machine.occupied) and await self._may_still_finish(machine):
            await self._watch(machine)
        else:
            await self._release(machine)

    async def _may_still_finish(self, machine: Machine) -> bool:
        standing = await self._leases.standing_on(machine.machine_id)
        now = self._clock.now()
        return any(lease.state is LeaseState.ACTIVE or now - lease.expire_time < EXPIRY_GRACE for lease in standing)

    async def _release(self, machine: Machine) -> None:
        await self._provider.release(machine.machine_id)
        now = self._clock.now()
        draining = machine.state is MachineState.DRAINING
        await self._change(machine, machine.stop(now) if draining else machine.release(now))
        self._health.forget(machine.machine_id)

    async def _change(self, before: Machine, after: Machine) -> Machine:
        changed = await self._machines.change(before, after)
        if changed.state is not before.state:
            log.info(
                "machine %s is %s",
                changed.machine_id,
                changed.state.value,
                extra={"machine_id": changed.machine_id, "previous": before.state.value, "reason": changed.reason},
            )
        return changed

    def _is_late(self, machine: Machine, now: datetime) -> bool:
        return now - (machine.provision_time or machine.create_time) >= self._start_timeout

    def _too_late(self, stage: str) -> str:
        return f"it was not ready after {self._start_timeout.total_seconds():g} s: {stage}"
