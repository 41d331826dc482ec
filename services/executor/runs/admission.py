"""Who may use the machine, and which slots of it: the one place that admits runs and sessions.

A lease admits them by its token (`leases/fence.py`), and each has its place until it is over. One lock, `turn`, guards
the steps of a beginning, so that two callers cannot get the same slot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from servicekit.clock import Clock
from services.executor.leases.errors import DrainingError, NoRoomError, NoSlotError, UnfitError
from services.executor.leases.fence import Fence
from services.executor.leases.fence_file import FenceFile
from services.executor.leases.lease import Lease
from services.executor.leases.slot import Slot, devices_of, free_place, overlap, part_of_device
from services.executor.runs.health_check import HealthCheck
from vocabulary.slots import EIGHTHS_PER_GPU


class EndReason(StrEnum):
    """Reason to end a run or a session before it has finished by itself."""

    CANCELLED = "cancelled"
    LEASE_EXPIRED = "lease_expired"
    LEASE_PASSED_ON = "lease_passed_on"
    EXECUTOR_STOPPED = "executor_stopped"
    RUN_LIMIT = "run_limit"


@dataclass(frozen=True)
class Capacity:
    """Maximum number of runs and sessions at once, and of finished ones that are kept for clients that come back."""

    max_runs: int = 1
    device_counts: tuple[int, ...] = (1,)
    """Number of devices of each GPU: 1, or more if it is partitioned."""
    kept_finished: int = 64
    keep_duration: timedelta = timedelta(minutes=10)

    @property
    def gpu_count(self) -> int:
        """Number of GPUs that can be leased."""
        return len(self.device_counts)

    @property
    def eighths(self) -> int:
        """Number of eighths of the whole machine."""
        return self.gpu_count * EIGHTHS_PER_GPU

    @property
    def runs_per_device(self) -> int:
        """Number of runs that may share a device."""
        return max(1, self.max_runs // sum(self.device_counts))

    def outdated(self, finish_times: Mapping[str, datetime], now: datetime) -> list[str]:
        """Return which of the finished ones, by id, are not kept any longer."""
        oldest_kept = now - self.keep_duration
        surplus = len(finish_times) - self.kept_finished
        in_order = sorted((end, name) for name, end in finish_times.items())
        return [name for number, (end, name) in enumerate(in_order) if end < oldest_kept or number < surplus]


@dataclass(frozen=True)
class Place:
    """A place on the machine: eighths and their devices."""

    slots: tuple[Slot, ...]
    devices: tuple[int, ...]
    part_of_device: tuple[int, int] = (0, 0)
    """The first eighth and the number of eighths of its device, if it has a part of one."""

    @property
    def is_part(self) -> bool:
        """True if others may be on the same GPU."""
        return any(slot.eighths < EIGHTHS_PER_GPU for slot in self.slots)


class Occupant(Protocol):
    """A run or a session, which has its place until it is over."""

    @property
    def lease(self) -> Lease:
        """The lease that admits it."""
        ...

    @property
    def place(self) -> Place:
        """Its place on the machine."""
        ...

    @property
    def is_over(self) -> bool:
        """True once its last event is recorded."""
        ...

    def end(self, reason: EndReason) -> None:
        """Ask for its end; the first reason counts."""
        ...

    async def wait(self) -> None:
        """Wait until it is over."""
        ...


class Admission:
    """Admits runs and sessions to the machine. They live on one event loop."""

    def __init__(self, health_check: HealthCheck, clock: Clock, capacity: Capacity, fence_file: FenceFile) -> None:
        self.capacity = capacity
        self.turn = asyncio.Lock()
        self.is_draining = False
        self._health_check = health_check
        self._clock = clock
        self._fence_file = fence_file
        self._fence = Fence(capacity.eighths, fence_file.read())
        self._tasks: dict[asyncio.Task[None], Occupant] = {}

    @property
    def in_flight(self) -> list[Occupant]:
        """The runs and sessions that are not over."""
        return [occupant for occupant in self._tasks.values() if not occupant.is_over]

    async def settle(self) -> None:
        """Wait until nothing is left of what is over, and the health check after it is done; call before `turn`."""
        if leaving := [task for task, occupant in self._tasks.items() if occupant.is_over]:
            await asyncio.wait(leaving)
        await self._health_check.settle()

    async def place_for(self, lease: Lease) -> Place:
        """Return the place of a new run or session of `lease`, for `enter`; ends those of older leases on its eighths.

        The caller holds `turn`. Raises DrainingError, UnfitError, NoRoomError, StaleLeaseError, NoSlotError.
        """
        if self.is_draining:
            raise DrainingError
        if self._health_check.unfit_reason:
            raise UnfitError(self._health_check.unfit_reason)
        if self._health_check.lacks_room:
            raise NoRoomError
        lease.check_alive(self._clock.now())
        self._admit(lease)
        await self._end_superseded(lease)
        return self._free_place(lease)

    def enter(self, occupant: Occupant, life: Coroutine[Any, Any, None]) -> None:
        """Begin the life of a run or session at its place; when `life` ends, nothing is left of it."""
        task = asyncio.create_task(life)
        self._tasks[task] = occupant
        task.add_done_callback(self._tasks.pop)

    def end_all(self, reason: EndReason) -> None:
        """End everything in flight."""
        for occupant in self.in_flight:
            occupant.end(reason)

    async def close(self) -> None:
        """End everything in flight and wait until nothing is left of it."""
        self.is_draining = True
        self.end_all(EndReason.EXECUTOR_STOPPED)
        await asyncio.gather(*self._tasks)

    def _admit(self, lease: Lease) -> None:
        before = self._fence.newest
        self._fence.admit(lease)
        if self._fence.newest != before:
            self._fence_file.write(self._fence.newest)

    async def _end_superseded(self, lease: Lease) -> None:
        """End what older leases have on the same eighths: a newer lease means that they are over."""
        older = [occupant for occupant in self.in_flight if occupant.lease.is_superseded_by(lease)]
        for occupant in older:
            occupant.end(EndReason.LEASE_PASSED_ON)
        await asyncio.gather(*(occupant.wait() for occupant in older))

    def _free_place(self, lease: Lease) -> Place:
        """Return the lease's slots, or free ones if the lease names none."""
        in_flight = self.in_flight
        taken = [slot for occupant in in_flight for slot in occupant.place.slots]
        free = free_place(lease.eighths, self.capacity.eighths, taken)
        slots = lease.slots or ((free,) if free else ())
        if not slots or overlap(slots, taken) or len(in_flight) >= self.capacity.max_runs:
            raise NoSlotError(len(in_flight))
        devices = devices_of(slots, self.capacity.device_counts)
        sharing = sum(not set(devices).isdisjoint(occupant.place.devices) for occupant in in_flight)
        if sharing >= self.capacity.runs_per_device:
            raise NoSlotError(len(in_flight))
        return Place(slots, devices, part_of_device(slots, self.capacity.device_counts))
