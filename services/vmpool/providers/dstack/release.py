"""Gives a machine back for good.

A machine whose run was stopped stays idle, and is paid for, until the fleet's idle duration is over. So the steps are:
stop the run, wait for its final state, delete the instance, wait until that is gone, and only then let the server
forget the run, because the machine is found by the run's name. Each step may be repeated; after a fault, the next
release begins at the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.fleet import Fleets, Instance
from services.vmpool.providers.dstack.refusal import RefusedError
from services.vmpool.providers.dstack.runs.run import Run
from services.vmpool.providers.dstack.runs.runs import Runs
from services.vmpool.providers.dstack.runs.state import FINAL_RUN_STATUSES, TERMINATING
from services.vmpool.providers.provider import Resource

log = get_logger(__name__)

INSTANCE_PREFIX = "dstack-instance:"
"""Prefix of the server's id of a machine whose run is gone; other machines have the pool's id."""

STOP_MARGIN_SECONDS = 15.0
"""Time that a run may take to its final state, beyond its executor's grace; then it is aborted."""

_OCCUPIED = frozenset({"busy", "pending", "provisioning"})


class Release:
    """Releases machines; `keep_log` is called with each run before the server forgets it."""

    def __init__(
        self, runs: Runs, fleets: Fleets, config: DstackConfig, keep_log: Callable[[str, Run], Awaitable[None]]
    ) -> None:
        self._runs = runs
        self._fleets = fleets
        self._config = config
        self._keep_log = keep_log
        self._poll_seconds = config.timeouts.poll_interval.total_seconds()

    async def release(self, machine_id: str, resource: Resource) -> bool:
        """End the machine; False if the server knows none.

        Raises TimeoutError if it takes too long; call it again then.
        """
        seconds = self._config.timeouts.release_timeout.total_seconds()
        step = ["finding it"]
        try:
            async with asyncio.timeout(seconds):
                if machine_id.startswith(INSTANCE_PREFIX):
                    return await self._end_instance(machine_id.removeprefix(INSTANCE_PREFIX), step)
                return await self._end_run(machine_id, resource, step)
        except TimeoutError as error:
            # A request's own timeout says more than ours.
            text = str(error) or f"not within {seconds:g} s"
            raise TimeoutError(f"machine {machine_id} is not released yet, {step[0]}: {text}") from error

    async def left_without_run(self, machine_id: str, resource: Resource) -> Sequence[Instance]:
        """The instances of a machine whose run is no longer known, except those that another run has taken since.

        Hosts of SSH fleets are left out, because they are never deleted.
        """
        listed = [each for each in await self._fleets.instances() if not each.is_ssh_host]
        if not listed:
            return []
        ids = await self._runs.instance_ids(resource.resource_id) if resource.resource_id else None
        if not ids:
            ids = await self._ids_by_name(machine_id, resource, listed)
        return [each for each in listed if each.instance_id in ids and not await self._is_taken_over(each)]

    async def _ids_by_name(self, machine_id: str, resource: Resource, listed: Sequence[Instance]) -> frozenset[str]:
        """Instance ids for a run that was deleted before its id was seen: its name proves nothing, but its tags do."""
        name = self._runs.name_of(machine_id, resource)
        is_ours = any(run.name == name and run.is_machine(machine_id) for run in await self._runs.list_all())
        if not is_ours:
            return frozenset()
        return frozenset(
            [each.instance_id for each in listed if name in await self._runs.run_names_on(each.instance_id)]
        )

    async def _end_run(self, machine_id: str, resource: Resource, step: list[str]) -> bool:
        if (run := await self._runs.of_machine(machine_id, resource)) is None:
            left = await self.left_without_run(machine_id, resource)
            for instance in left:
                step[0] = f"deleting instance {instance.fleet}-{instance.number}, whose run is not known any more"
                await self._delete(instance)
            return bool(left)
        step[0] = "stopping its run"
        await self._stop(run)
        step[0] = "finding its instance"
        instances = await self._instances_of(run)
        await self._keep_log(machine_id, run)
        for instance in instances:
            step[0] = f"deleting instance {instance.fleet}-{instance.number}"
            await self._delete(instance)
        await self._runs.delete(run.name)
        return True

    async def _end_instance(self, instance_id: str, step: list[str]) -> bool:
        step[0] = "deleting its instance"
        found = [each for each in await self._fleets.instances() if each.instance_id == instance_id]
        for instance in found:
            await self._delete(instance)
        return bool(found)

    async def _stop(self, run: Run) -> None:
        try:
            async with asyncio.timeout(self._config.timeouts.stop_grace.total_seconds() + STOP_MARGIN_SECONDS):
                await self._until_final(run.name)
        except TimeoutError:
            log.warning("a run does not stop, and is aborted", extra={"run": run.name})
            await self._runs.stop(run.name, abort=True)
            await self._until_final(run.name)

    async def _until_final(self, name: str) -> None:
        while True:
            run = await self._runs.get(name)
            if run is None or run.status in FINAL_RUN_STATUSES:
                return
            # More than once, because the server forgets a stop that comes while it records the start of the run.
            if run.status != TERMINATING:
                await self._runs.stop(name, abort=False)
            await asyncio.sleep(self._poll_seconds)

    async def _instances_of(self, run: Run) -> Sequence[Instance]:
        """The run's instances by the server's events, or by address if it keeps none, though addresses are reused."""
        ids = await self._runs.instance_ids(run.run_id)
        host = run.job.address.host if run.job and run.job.address else ""
        return [
            instance
            for instance in await self._fleets.instances()
            if (instance.instance_id in ids if ids else host and instance.hostname == host)
        ]

    async def _delete(self, instance: Instance) -> None:
        """Delete an instance once no run has it, and wait until it is gone. An SSH fleet's host is only waited for."""
        while (now := await self._look(instance)) is not None:
            if instance.is_ssh_host and now.status not in _OCCUPIED:
                return
            if now.status in _OCCUPIED and await self._is_taken_over(now):
                return
            if now.status != TERMINATING and not instance.is_ssh_host:
                await self._try_delete(now)
            await asyncio.sleep(self._poll_seconds)

    async def _look(self, instance: Instance) -> Instance | None:
        instances = await self._fleets.instances()
        return next((each for each in instances if each.instance_id == instance.instance_id), None)

    async def _try_delete(self, instance: Instance) -> None:
        try:
            await self._fleets.delete_instance(instance)
        except RefusedError as error:
            if not error.is_busy:
                raise ProviderError(
                    f"instance {instance.fleet}-{instance.number} may still cost money: {error}", Fault.PROVIDER
                ) from error

    async def _is_taken_over(self, instance: Instance) -> bool:
        """True if another run got the machine while it was idle. Then the machine and its cost are that run's."""
        for name in await self._runs.run_names_on(instance.instance_id):
            run = await self._runs.get(name)
            if run is not None and run.status not in FINAL_RUN_STATUSES:
                return True
        return False
