"""Reads the machine's inventory, at the start and again when the machine may be damaged.

Drivers of damaged hardware hang. So each reading has its own thread, which is abandoned if it takes too long, and no
second one begins until the first has returned.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from servicekit import logging
from services.executor.devices.inventory import DeviceFacts, Inventoried, UnreadFact
from services.executor.machine.host_facts import HostFacts, read_host

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from servicekit.clock import Clock
    from services.executor.devices.device import Device

log = logging.get_logger(__name__)

T = TypeVar("T")
READ_SECONDS = 20.0
"""For eight GPUs amdsmi takes a few seconds at most; a longer call hangs."""


@dataclass(frozen=True)
class Inventory:
    """The machine's parts at `time`."""

    device: DeviceFacts
    host: HostFacts
    time: datetime


class InventoryReader:
    """Holds the newest inventory in `current`, once `read` has been awaited."""

    def __init__(self, device: Device, clock: Clock, *, seconds: float = READ_SECONDS) -> None:
        self._device = device
        self._clock = clock
        self._seconds = seconds
        self._reading: asyncio.Future[DeviceFacts] | None = None
        self._refreshing: asyncio.Task[Inventory] | None = None
        self.current = Inventory(DeviceFacts(), read_host(), clock.now())

    async def read(self) -> Inventory:
        """Read the inventory now; never raises. Parts that cannot be read keep their earlier values."""
        before, found = self.current.device, await self._facts()
        if not found.gpus and before.gpus and found.unread:
            found = replace(before, unread=found.unread)
        self.current = Inventory(found, read_host(), self._clock.now())
        for fact in found.unread:
            log.warning("part of the inventory cannot be read", extra={"fact": fact.field, "reason": fact.reason})
        return self.current

    def refresh(self) -> None:
        """Read the inventory in the background."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self.read())

    async def close(self) -> None:
        """Cancel the reading in the background."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait({self._refreshing})

    async def _facts(self) -> DeviceFacts:
        if not isinstance(self._device, Inventoried):
            return DeviceFacts()
        if self._reading is None or self._reading.done():
            self._reading = in_thread(self._device.facts)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(self._reading)
        except TimeoutError:
            return _unread(f"the driver did not answer within {self._seconds:g} s")
        except Exception as error:  # noqa: BLE001  whatever a driver's library does, the executor goes on
            return _unread(f"{type(error).__name__}: {error}")


def _unread(reason: str) -> DeviceFacts:
    return DeviceFacts(unread=[UnreadFact("gpus", reason)])


def in_thread(read: Callable[[], T]) -> asyncio.Future[T]:
    """Act like `asyncio.to_thread`, but let the process end without waiting for the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(answer: T | None, fault: BaseException | None) -> None:
        if future.cancelled():
            return
        if answer is not None:
            future.set_result(answer)
        else:
            future.set_exception(fault or RuntimeError("no answer"))

    def work() -> None:
        answer, fault = None, None
        try:
            answer = read()
        except BaseException as error:  # noqa: BLE001  raised in the task that waits
            fault = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, answer, fault)

    threading.Thread(target=work, name="inventory", daemon=True).start()
    return future
