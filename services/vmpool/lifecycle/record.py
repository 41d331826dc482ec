"""The record of machines for the code that moves them on: each move is stored, and reported in the log."""

from __future__ import annotations

from servicekit.logging import get_logger
from services.vmpool.machines.machine import Machine
from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)


class Record:
    """Changes machines in the record."""

    def __init__(self, machines: MachineStore) -> None:
        self._machines = machines

    async def change(self, before: Machine, after: Machine, reason: str = "") -> Machine:
        """Change `before` into `after`; raises StaleMachineError if the machine has changed since it was read."""
        changed = await self._machines.change(before, after, reason)
        if changed.state is not before.state:
            log.info(
                "machine %s is %s",
                changed.machine_id,
                changed.state.value,
                extra={"machine_id": changed.machine_id, "previous": before.state.value, "reason": changed.reason},
            )
        return changed
