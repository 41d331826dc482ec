"""Follows vmpool's machines, so that the queue and the runs learn of a change at once."""

from __future__ import annotations

from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.logging import get_logger
from services.scheduler.peers.pool import Pool, PoolError
from services.scheduler.queue.inventory import Inventory, holds_nobody
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.runs.job_runner import JobRunner

log = get_logger(__name__)


class MachineFollower:
    """The loop that follows the stream of machines; one pass lasts as long as the stream."""

    name = "machine-follower"

    def __init__(self, pool: Pool, inventory: Inventory, waiting: WaitingJobs, runner: JobRunner) -> None:
        self._pool = pool
        self._inventory = inventory
        self._waiting = waiting
        self._runner = runner

    async def run_once(self) -> None:
        """Takes in the present machines, then every change, until the stream breaks."""
        self._inventory.clear()
        try:
            async for event in self._pool.watch_machines():
                if event is None:
                    self._inventory.is_complete = True
                    continue
                self._inventory.apply(event)
                if holds_nobody(event.machine):
                    stopped = event.machine.state == vmpool_pb2.MACHINE_STATE_DRAINING
                    self._runner.machine_gone(event.machine.machine_id, event.machine.reason, stopped=stopped)
                self._waiting.changed.set()
        except PoolError as error:
            log.warning("vmpool's machines cannot be followed", extra={"reason": str(error)})
