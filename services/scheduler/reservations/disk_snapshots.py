"""Takes snapshots of disks on request, and forgets disks that were deleted long ago."""

from __future__ import annotations

from datetime import timedelta

from wavepool.executor.v1.session_pb2 import SessionSnapshot

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.jobs.disk import Disk, DiskState
from services.scheduler.jobs.errors import WrongReservationStateError
from services.scheduler.reservations.attempt.session_attempt import session_of
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
        taken = await session_of(self._runner, disk.holder_id).snapshot()
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
