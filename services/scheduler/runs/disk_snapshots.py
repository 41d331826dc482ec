"""Takes snapshots of disks on request, and forgets disks that were deleted long ago."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.scheduler.jobs.disk import DiskState
from services.scheduler.jobs.errors import MachineUnreachableError, WrongReservationStateError

if TYPE_CHECKING:
    from datetime import timedelta

    from wavepool.executor.v1.session_pb2 import SessionSnapshot

    from servicekit.clock import Clock
    from services.scheduler.jobs.disk import Disk
    from services.scheduler.runs.job_runner import JobRunner
    from services.scheduler.store.disk_store import DiskStore

log = get_logger(__name__)


class DiskSnapshots:
    """Finds the session that has a disk."""

    def __init__(self, runner: JobRunner) -> None:
        self._runner = runner

    async def take(self, disk: Disk) -> SessionSnapshot:
        """Takes a snapshot; raises WrongReservationStateError, MachineUnreachableError."""
        if disk.state is not DiskState.IN_USE:
            state = disk.state.replace("_", " ")
            raise WrongReservationStateError(
                f"The disk {disk.name!r} is {state}: a snapshot is taken only while an active reservation has it."
            )
        session = self._runner.session(disk.holder_id)
        if session is None:
            raise MachineUnreachableError("The reservation is being taken on, or is ending. Try again in a moment.")
        taken = await session.snapshot()
        if taken.fault:
            raise WrongReservationStateError(
                f"The disk {disk.name!r} could not be saved: {taken.fault}. The previous snapshot is still "
                f"the last one."
            )
        return taken


class DiskPruner:
    """Forgets disks that were deleted more than `kept` ago; machines then remove their snapshots."""

    name = "disk pruner"

    def __init__(self, disks: DiskStore, kept: timedelta, clock: Clock) -> None:
        self._disks = disks
        self._kept = kept
        self._clock = clock

    async def run_once(self) -> None:
        """Forgets what is due."""
        now = self._clock.now()
        if forgotten := await self._disks.forget(now - self._kept, now):
            log.info("deleted disks were forgotten", extra={"disks": forgotten})
