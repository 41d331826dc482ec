"""Moves one machine one step on: asks its provider and its executor for its state, and records the result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError, StaleMachineError
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.executor_client import Executors, ExecutorUnreachableError, Health
from services.vmpool.lifecycle.health_book import HealthBook
from services.vmpool.lifecycle.load_book import LoadBook
from services.vmpool.lifecycle.machine_order import order_for, placed
from services.vmpool.lifecycle.machine_poller import MachinePoller
from services.vmpool.lifecycle.record import Record
from services.vmpool.lifecycle.releaser import Releaser
from services.vmpool.lifecycle.step_pauses import StepPauses
from services.vmpool.machines.inventory_change import inventory_change
from services.vmpool.machines.lease import EXPIRY_GRACE, LeaseState, expired_run_is_gone, run_outlives
from services.vmpool.machines.machine import OVER, READY, Halt, Machine, MachineState
from services.vmpool.providers.provider import MachineProvider, Observation, ProviderState
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

SETTLING_TIME = timedelta(seconds=30)
"""A restarted pool observes machines for up to this long before it gives one up as late."""

_BROKEN_AT_PROVIDER = frozenset({ProviderState.ENDED, ProviderState.GONE})


class MachineDriver:
    """Drives machines. Every step may be repeated, and the store refuses a step that comes too late."""

    def __init__(
        self,
        machines: MachineStore,
        leases: LeaseStore,
        record: Record,
        providers: ProviderSet,
        poller: MachinePoller,
        releaser: Releaser,
        executors: Executors,
        health: HealthBook,
        loads: LoadBook,
        clock: Clock,
    ) -> None:
        self._leases = leases
        self._providers = providers
        self._machines = machines
        self._record = record
        self._poller = poller
        self._releaser = releaser
        self._executors = executors
        self._health = health
        self._loads = loads
        self._clock = clock
        self._pauses = StepPauses()
        self._start_time = clock.now()
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
        """Take the step for the machine's state, unless that step failed a moment ago."""
        if not self._pauses.is_over(machine.machine_id, machine.state, self._clock.now()):
            return
        try:
            await self._steps[machine.state](machine)
        except StaleMachineError:
            raise
        except Exception:
            self._pauses.failed(machine.machine_id, machine.state, self._clock.now())
            raise
        self._pauses.forget(machine.machine_id)

    async def end(self, machine: Machine) -> None:
        """Stop a machine in any state, because the pool itself stops."""
        if machine.state not in {MachineState.DRAINING, *OVER}:
            machine = await self._record.change(machine, machine.drain(self._clock.now(), "the pool is stopping"))
        await self._release(machine)

    async def _provision(self, machine: Machine) -> None:
        now = self._clock.now()
        try:
            provider = self._provider(machine)
            self._releaser.order_sent(machine.machine_id)
            async with asyncio.timeout(provider.start_timeout.total_seconds()):
                await provider.provision(order_for(machine))
        except ProviderError as error:
            self._releaser.order_answered(machine.machine_id)
            await self._record.change(machine, machine.fail(now, str(error), error.fault))
        except Exception as error:
            if not self._is_late(machine, self._clock.now()):
                raise
            await self._record.change(
                machine, self._too_late(machine, now, f"the provider does not take the order ({error})")
            )
        else:
            self._releaser.order_answered(machine.machine_id)
            await self._record.change(machine, machine.provision(now))

    async def _await_provider(self, machine: Machine) -> None:
        seen = await self._poller.poll(machine)
        now = self._clock.now()
        if seen.state is ProviderState.STOPPED:
            await self._stopped(machine, seen)
        elif seen.state in _BROKEN_AT_PROVIDER:
            await self._record.change(machine, _failed(machine, now, seen))
        elif seen.state is ProviderState.RUNNING:
            await self._record.change(machine, placed(machine, seen).start(now, seen.endpoint))
        elif self._is_late(machine, now):
            late = self._too_late(machine, now, seen.stage or "the provider is making it")
            await self._record.change(machine, replace(late, rented=seen.rented))
        elif seen.state is ProviderState.PENDING and seen.stage != machine.provider_stage:
            await self._record.change(machine, placed(machine, seen).progress(seen.stage))

    async def _await_executor(self, machine: Machine) -> None:
        seen = await self._poller.poll(machine)
        if seen.state is ProviderState.STOPPED:
            await self._stopped(machine, seen)
            return
        if seen.state in _BROKEN_AT_PROVIDER:
            await self._record.change(machine, _failed(machine, self._clock.now(), seen))
            return
        try:
            health = await self._executors.health(machine.endpoint, machine.token)
        except ExecutorUnreachableError as error:
            now = self._clock.now()
            if self._is_late(machine, now):
                await self._record.change(
                    machine, self._too_late(machine, now, f"its executor does not answer ({error})")
                )
            return
        now = self._clock.now()
        self._health.heard(machine.machine_id, now)
        if health.unfit_reason:
            await self._record.change(machine, machine.fail(now, f"unfit: {health.unfit_reason}", Fault.UNFIT))
        else:
            await self._record.change(machine, machine.join(now, health.inventory))

    async def _watch(self, machine: Machine) -> None:
        """Notice a machine that died or reached its longest life, and expired leases whose runs are gone."""
        if machine.is_expired(self._clock.now()):
            # Not every provider ends a machine by itself.
            lived = f"it has reached its longest life of {machine.max_duration.total_seconds():g} s"
            await self._machines.halt(machine.machine_id, Halt(lived, Fault.EXPIRED))
            return
        seen, health = await asyncio.gather(self._poller.poll(machine), self._heartbeat(machine))
        if seen.state is ProviderState.STOPPED:
            await self._stopped(machine, seen)
        elif seen.state in _BROKEN_AT_PROVIDER:
            lost = machine.lose(self._clock.now(), seen.reason, seen.fault or Fault.PROVIDER, seen.exit_status)
            await self._record.change(machine, lost)
        elif seen.resource.resource_id and seen.resource.resource_id != machine.resource_id:
            # It was ordered by a vmpool that did not record the id.
            await self._record.change(machine, placed(machine, seen), "it is known at its provider")
        elif isinstance(health, ExecutorUnreachableError):
            await self._unanswered(machine, health)
        elif health is not None:
            await self._answered(machine, health)

    async def _stopped(self, machine: Machine, seen: Observation) -> None:
        """Halt a machine that was stopped at its provider: there is nothing to drain, only to release."""
        halt = Halt(seen.reason, seen.fault, seen.exit_status, rented=seen.rented)
        await self._machines.halt(machine.machine_id, halt)

    async def _heartbeat(self, machine: Machine) -> Health | ExecutorUnreachableError | None:
        """The executor's health, or the error if it does not answer; None if it is not time to ask."""
        if not self._health.is_due(machine.machine_id, self._clock.now()):
            return None
        try:
            return await self._executors.health(machine.endpoint, machine.token)
        except ExecutorUnreachableError as error:
            return error

    async def _answered(self, machine: Machine, health: Health) -> None:
        now = self._clock.now()
        self._health.heard(machine.machine_id, now)
        self._loads.note(machine.machine_id, replace(health.load, leased_share=machine.leased_share), now)
        if change := inventory_change(machine.inventory, health.inventory):
            machine = await self._record.change(machine, machine.take_stock(health.inventory), change)
            log.info("machine %s: %s", machine.machine_id, change, extra={"machine_id": machine.machine_id})
        if health.unfit_reason and machine.state in READY:
            await self._record.change(machine, machine.turn_unfit(self._clock.now(), health.unfit_reason))
        elif any(machine.occupied):
            await self._free_expired(machine, health)

    async def _unanswered(self, machine: Machine, error: ExecutorUnreachableError) -> None:
        now = self._clock.now()
        silence = self._health.silence(machine.machine_id, now).total_seconds()
        log.warning(
            "a machine does not answer",
            extra={"machine_id": machine.machine_id, "silence_seconds": silence, "error": str(error)},
        )
        if self._health.is_lost(machine.machine_id, now, is_reserved=bool(machine.reservation_ids)):
            reason = f"its executor has not answered for {silence:.0f} s ({error})"
            await self._record.change(machine, machine.lose(now, reason, Fault.UNREACHABLE))

    async def _free_expired(self, machine: Machine, health: Health) -> None:
        now = self._clock.now()
        standing = await self._leases.standing_on(machine.machine_id)
        active = sum(lease.state is LeaseState.ACTIVE for lease in standing)
        expired = [lease for lease in standing if lease.state is LeaseState.EXPIRED]
        for lease in expired:
            if expired_run_is_gone(lease, health.runs_in_flight, active, now):
                await self._leases.release(lease.lease_id, "its run is gone")
            elif run_outlives(lease, health.runs_in_flight, active, now) and machine.state in READY:
                await self._record.change(machine, machine.drain(now, f"a run outlived its lease {lease.lease_id}"))
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
        await self._releaser.release(machine)
        self._health.forget(machine.machine_id)
        self._loads.forget(machine.machine_id)

    def _is_late(self, machine: Machine, now: datetime) -> bool:
        allowed = self._provider(machine).start_timeout
        settled = now - self._start_time >= min(allowed, SETTLING_TIME)
        return settled and now - (machine.provision_time or machine.create_time) >= allowed

    def _too_late(self, machine: Machine, now: datetime, stage: str) -> Machine:
        waited = self._provider(machine).start_timeout.total_seconds()
        reason = f"it was not ready after {waited:g} s: {stage}"
        return machine.fail(now, reason, Fault.START_TIMEOUT)

    def _provider(self, machine: Machine) -> MachineProvider:
        return self._providers.named(machine.provider)


def _failed(machine: Machine, now: datetime, seen: Observation) -> Machine:
    return machine.fail(now, seen.reason, seen.fault or Fault.PROVIDER, seen.exit_status, rented=seen.rented)
