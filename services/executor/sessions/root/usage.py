"""What a session uses of its share of the machine, and what its users are told of that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEvent

from services.executor.sessions.access.orders import Orders
from services.executor.sessions.disk import DiskUse
from services.executor.sessions.session_sandbox import SandboxOrder

_KILLED_FOR_MEMORY = "The kernel has killed a program of this session, which used more than its memory:"
_MIB_PER_GIB = 1024
_WHOLE = 100


class Usage:
    """The use of one session; `disk` is what it has written, as far as it was counted."""

    def __init__(self, order: SandboxOrder, orders: Orders, record: Callable[[SessionEvent], None]) -> None:
        self.disk: DiskUse | None = None
        self._share = order.share
        self._disk_bytes = order.disk_bytes
        self._life = orders.life
        self._orders = orders
        self._record = record
        self._told_of_disk = 0
        self._killed_for_memory = 0

    async def count_disk(self) -> None:
        """Count what the session has written, and tell its users when that nears its share and when it exceeds it."""
        sandbox = self._orders.sandbox
        if sandbox is None or not self._life.is_open:
            return
        used_bytes = await asyncio.to_thread(sandbox.used_bytes)
        self.disk = use = DiskUse(used_bytes, self._disk_bytes)
        step, told = use.step_after(self._told_of_disk), self._told_of_disk
        self._told_of_disk = step
        if step > told and self._life.is_open:
            consequence = (
                "It will be ended if the machine's disk runs short: remove files now."
                if step >= _WHOLE
                else "Remove files before that is full."
            )
            self._orders.notify(f"This session has {use.words}. {consequence}")
            disk = session_pb2.SessionDisk(used_bytes=use.used_bytes, share_bytes=use.share_bytes)
            self._record(SessionEvent(disk=disk))

    def count_killed(self) -> None:
        """Count what the kernel has killed for lack of memory, and tell it."""
        killed = self._orders.sandbox.killed_for_memory if self._orders.sandbox else 0
        if killed > self._killed_for_memory:
            self._killed_for_memory = killed
            most = f"{self._share.memory_mib / _MIB_PER_GIB:.3g} GiB"
            self._orders.notify(f"{_KILLED_FOR_MEMORY} {most}, /dev/shm and /tmp with it.")
            self._record(SessionEvent(out_of_memory=session_pb2.SessionOutOfMemory(killed=killed)))
