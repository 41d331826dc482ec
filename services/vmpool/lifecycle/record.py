"""The record of machines, as those see it who keep it: each move is written down, and reported in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servicekit.logging import get_logger

if TYPE_CHECKING:
    from services.vmpool.machines.machine import Machine
    from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)


class Record:
    """Changes machines."""

    def __init__(self, machines: MachineStore) -> None:
        self._machines = machines

    async def change(self, before: Machine, after: Machine, reason: str = "") -> Machine:
        """Make `before` into `after`; StaleMachineError where it has changed since."""
        changed = await self._machines.change(before, after, reason)
        if changed.state is not before.state:
            log.info(
                "machine %s is %s",
                changed.machine_id,
                changed.state.value,
                extra={"machine_id": changed.machine_id, "previous": before.state.value, "reason": changed.reason},
            )
        return changed
